-- The roles that row security rests on. The superuser of the embedded database runs this; on a server an administrator
-- creates the roles once. Neither console_app nor console_service owns anything.

do $$ begin
  -- Reads and changes the rows of one organization.
  if to_regrole('console_app') is null then
    create role console_app nologin;
  end if;
  -- The service outside organizations: finding a credential, cleaning up, signing.
  if to_regrole('console_service') is null then
    create role console_service nologin noinherit in role console_app;
  end if;
  -- Owns the tables, and is bound by row security all the same.
  if to_regrole('console_owner') is null then
    create role console_owner nologin nosuperuser nobypassrls in role console_app;
  end if;
end $$;

-- The extension pg_trgm needs the right to create in the database.
grant create on database postgres to console_owner;
alter schema public owner to console_owner;
