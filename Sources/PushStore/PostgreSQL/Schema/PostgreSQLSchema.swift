#if PostgreSQL
/// The application of the store's migrations (``SQLSchema``) to a schema of PostgreSQL, which is the first one of the
/// connection's search path.
enum PostgreSQLSchema {
    /// The names and the statements of all migrations, in their order.
    static let migrations: [(name: String, sql: String)] =
        [("1 initial schema", SQLSchema.initial.joined(separator: "\n"))]
        + [SQLSchema.from2, SQLSchema.from10, SQLSchema.from17, SQLSchema.from29].joined()
        .map { (name: $0.key, sql: $0.value) }

    /// The names of columns by their names in lower case, with which PostgreSQL answers.
    static let columns = PostgreSQLDefinition.spellings(Self.migrations.map(\.sql).joined(separator: "\n"))

    /// Applies the missing migrations, all in one transaction. Of several processes, one does it, and the others wait.
    /// - Parameter name: The name of the database in errors.
    /// - Throws: ``StoreError/newerSchema(path:)`` for a database with a migration that this version does not know, which
    ///   is left unchanged.
    static func migrate(_ connection: PostgreSQLConnection, name: String) throws {
        try connection.transaction(.readCommitted) { _ in try Self.apply(to: connection, name: name) }
    }

    /// Applies the missing migrations within a transaction. The parameters and errors are those of
    /// ``migrate(_:name:)``.
    static func apply(to connection: PostgreSQLConnection, name: String) throws {
        try connection.command("SELECT pg_advisory_xact_lock(hashtext('martlet'), hashtext(current_schema()))")
        let isFirst = try !connection.hasTable("migration")
        if isFirst { try connection.run(Self.foundation) }
        let applied = Set(try Self.applied(in: connection))
        guard applied.isSubset(of: Self.migrations.map(\.name)) else { throw StoreError.newerSchema(path: name) }
        let missing = Self.migrations.filter { !applied.contains($0.name) }
        for (name, sql) in missing {
            try connection.run(PostgreSQLDefinition(sql, isFirst: isFirst).commands)
            try connection.run(sql: "INSERT INTO migration (name) VALUES (?)", [name])
        }
        if !missing.isEmpty { try connection.run(PostgreSQLChanges.commands) }
    }

    /// Returns the names of the applied migrations, in the order of their application.
    static func applied(in database: any SQLConnection) throws -> [String] {
        try database.values(sql: "SELECT name FROM migration ORDER BY number")
    }

    // What the statements of the store need besides its tables.

    private static let foundation = [
        "CREATE TABLE migration (number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL UNIQUE)",
        // A text in which capital letters do not count.
        "CREATE COLLATION nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false)",
        Self.function(
            "iif(boolean, anycompatible, anycompatible)",
            "anycompatible",
            "CASE WHEN $1 THEN $2 ELSE $3 END"
        ),
        Self.function("ifnull(anycompatible, anycompatible)", "anycompatible", "coalesce($1, $2)"),
        Self.function("instr(text, text)", "bigint", "strpos($1, $2)::bigint"),
        Self.function("instr(bytea, bytea)", "bigint", "position($2 IN $1)::bigint"),
        // Of NULL and a value, SQLite's are NULL.
        Self.function(
            "max(anycompatible, anycompatible)",
            "anycompatible",
            "CASE WHEN $1 IS NOT NULL AND $2 IS NOT NULL THEN greatest($1, $2) END"
        ),
        Self.function(
            "min(anycompatible, anycompatible)",
            "anycompatible",
            "CASE WHEN $1 IS NOT NULL AND $2 IS NOT NULL THEN least($1, $2) END"
        ),
        Self.function("zeroblob(bigint)", "bytea", "decode(repeat('00', $1::int), 'hex')"),
        // At most 32 bytes.
        Self.function(
            "randomblob(bigint)",
            "bytea",
            "substr(sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())), 1, $1::int)",
            "VOLATILE"
        ),
        """
        CREATE FUNCTION json_valid(text) RETURNS bigint LANGUAGE plpgsql IMMUTABLE RETURNS NULL ON NULL INPUT AS
        $$ BEGIN PERFORM $1::json; RETURN 1; EXCEPTION WHEN others THEN RETURN 0; END $$
        """,
        Self.function("json_text(text[])", "text", "array_to_json($1)::text"),
        """
        CREATE AGGREGATE json_group_array(text)
        (sfunc = array_append, stype = text[], initcond = '{}', finalfunc = json_text)
        """,
    ]

    private static func function(
        _ signature: String,
        _ result: String,
        _ body: String,
        _ kind: String = "IMMUTABLE"
    ) -> String {
        """
        CREATE FUNCTION \(signature) RETURNS \(result) LANGUAGE sql \(kind) PARALLEL SAFE AS $$ SELECT \(body) $$
        """
    }

    /// Returns whether the transaction has changed a table on which ``AppCache`` depends.
    static func hasChangedApps(in database: any SQLConnection) throws -> Bool {
        let mark: String? = try database.value(sql: "SELECT current_setting('\(PostgreSQLChanges.mark)', true)")
        return mark == "1"
    }
}

extension PostgreSQLConnection {
    /// Runs commands without parameters and results.
    fileprivate func run(_ commands: [String]) throws {
        // One after the other they would take as many turns of the network.
        if !commands.isEmpty { try self.command(commands.joined(separator: ";\n")) }
    }
}
#endif
