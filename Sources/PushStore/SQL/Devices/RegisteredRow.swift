import PushTypes

/// The columns of a stored device on which the processing of a registration depends.
struct RegisteredRow: Hashable {
    var id: Int64
    var token: DeviceToken
    var kind: DeviceTokenKind
    /// The app's id of the Live Activity, or an empty string for a device of another kind.
    var activity: String
    var isActive, hasLeft: Bool
    var user, timeZone, installation: String?
}

/// Reads stored devices of one app and environment, including removed ones that are kept for notifications in progress.
struct RegisteredRowReader {
    let app: Int64
    let environment: PushEnvironment
    let database: any SQLConnection

    private static let columns = "id, token, kind, activity, isActive, hasLeft, user, timeZone, installation"

    /// Returns the device with a token, or `nil` if there is none.
    /// - Throws: ``DamagedRow`` if it cannot be read.
    func device(with token: DeviceToken) throws -> RegisteredRow? {
        let sql = "SELECT \(Self.columns) FROM device WHERE app = ? AND environment = ? AND token = ?"
        let statement = try self.database.prepare(sql)
        defer { statement.reset() }
        statement.bind(self.app, self.environment.code)
        statement.bind(token.bytes, at: 3)
        guard try statement.step() else { return nil }
        guard let row = Self.row(statement) else { throw DamagedRow(table: "device") }
        return row
    }

    /// Returns the devices of the installation that `place` names, ordered by kind.
    /// - Throws: ``DamagedRow`` if the device with the key `place` cannot be read. Other damaged devices are skipped.
    func devices(of place: DevicePlace) throws -> [RegisteredRow] {
        guard let installation = place.installation else { return [] }
        let sql = """
            SELECT \(Self.columns) FROM device
            WHERE app = ? AND environment = ? AND installation = ? ORDER BY kind, activity
            """
        let statement = try self.database.prepare(sql)
        defer { statement.reset() }
        statement.bind(self.app, self.environment.code)
        statement.bind(installation, at: 3)
        var rows: [RegisteredRow] = []
        while try statement.step() {
            if let row = Self.row(statement) {
                rows.append(row)
            } else if statement.integer(2) == place.kind.code, statement.text(3) == place.activity {
                throw DamagedRow(table: "device")
            }
        }
        return rows
    }

    private static func row(_ statement: any SQLStatement) -> RegisteredRow? {
        guard let token = statement.token(1), let kind = DeviceTokenKind(code: statement.integer(2)) else { return nil }
        return RegisteredRow(
            id: statement.integer(0),
            token: token,
            kind: kind,
            activity: statement.text(3) ?? "",
            isActive: statement.integer(4) != 0,
            hasLeft: statement.integer(5) != 0,
            user: statement.text(6),
            timeZone: statement.text(7),
            installation: statement.text(8)
        )
    }
}
