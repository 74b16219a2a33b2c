#if PostgreSQL
/// The numbers of changes by which a node learns that another one has changed a row that it may have cached.
///
/// Triggers count the changes in the transaction that makes them. Each node reads all numbers once a second.
enum PostgreSQLChanges {
    /// The tables that are watched, with the kind of change, the SQL expression of the row's app (0 for none), and the
    /// columns whose updates count, or `nil` for all.
    private static let tables: [(table: String, kind: StoreChange.Kind, app: String, columns: String?)] =
        AppCache.tables.map { ($0.name, .app, "0", $0.columns) } + [
            ("bridge", .bridge, "0", nil),
            ("credential", .environment, "coalesce(NEW.app, OLD.app)", nil),
            ("health", .environment, "coalesce(NEW.app, OLD.app)", "breakerOpenSince, breakerReason"),
            ("environmentState", .environment, "coalesce(NEW.app, OLD.app)", nil),
            ("appStop", .stop, "coalesce(NEW.app, OLD.app)", nil),
            ("erasure", .stop, "coalesce(NEW.app, OLD.app)", nil),
        ]

    /// The setting that marks a transaction with changes. The mark ends with the transaction.
    static let mark = "martlet.change"

    /// The commands that create the table and the triggers, or replace them.
    static var commands: [String] {
        let table = """
            CREATE TABLE IF NOT EXISTS change (
                kind text NOT NULL, app bigint NOT NULL, number bigint NOT NULL, PRIMARY KEY (kind, app)
            )
            """
        var commands = [table, Self.notifications]
        for (index, app) in Set(Self.tables.map(\.app)).sorted().enumerated() {
            let function = """
                CREATE OR REPLACE FUNCTION countChange\(index)() RETURNS trigger LANGUAGE plpgsql AS
                $$ BEGIN
                PERFORM set_config('\(Self.mark)', '1', true);
                INSERT INTO change VALUES (TG_ARGV[0], \(app), 1)
                ON CONFLICT (kind, app) DO UPDATE SET number = change.number + 1;
                RETURN NULL; END $$
                """
            commands.append(function)
            for watched in Self.tables where watched.app == app {
                commands += Self.triggers(
                    watched.table,
                    watched.kind,
                    watched.columns,
                    function: "countChange\(index)"
                )
            }
        }
        return commands
    }

    /// The trigger that counts pauses and cancellations of notifications.
    private static let notifications = """
        CREATE OR REPLACE FUNCTION countStop() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN
        INSERT INTO change VALUES ('\(StoreChange.Kind.stop.rawValue)', NEW.app, 1)
        ON CONFLICT (kind, app) DO UPDATE SET number = change.number + 1;
        RETURN NULL; END $$;
        CREATE OR REPLACE TRIGGER changeOfState AFTER UPDATE OF state ON notification FOR EACH ROW
        WHEN (NEW.state IN ('paused', 'cancelled') AND OLD.state IS DISTINCT FROM NEW.state) EXECUTE FUNCTION countStop()
        """

    private static func triggers(
        _ table: String,
        _ kind: StoreChange.Kind,
        _ columns: String?,
        function: String
    ) -> [String] {
        let names = columns.map { $0.split(separator: ",").map { $0.drop { $0 == " " } } } ?? ["*"]
        let isChanged = names.map { "OLD.\($0) IS DISTINCT FROM NEW.\($0)" }.joined(separator: " OR ")
        let events = [("Row", "INSERT OR DELETE", ""), ("Value", "UPDATE", "WHEN (\(isChanged))")]
        return events.map { name, event, condition in
            """
            CREATE OR REPLACE TRIGGER changeOf\(name)\(kind.rawValue) AFTER \(event) ON \(table)
            FOR EACH ROW \(condition) EXECUTE FUNCTION \(function)('\(kind.rawValue)')
            """
        }
    }

    static func read(in database: any SQLConnection) throws -> [StoreChange: Int64] {
        let rows = try database.rows(sql: "SELECT kind, app, number FROM change")
        return rows.reduce(into: [:]) { changes, row in
            guard let kind = row.value("kind") as StoreChange.Kind?, let app = row["app"] as Int64? else { return }
            changes[StoreChange(kind: kind, app: app)] = row["number"]
        }
    }
}
#endif
