import GRDB
import ProviderModel
import PushTypes

/// The columns of a stored device that a registration depends on.
struct RegisteredRow: Hashable {
    var id: Int64
    var token: DeviceToken
    var kind: DeviceTokenKind
    /// The app's id of the Live Activity; empty for none.
    var activity: String
    var isActive, hasLeft: Bool
    var user, timeZone, installation: String?
}

/// The place of a device in its installation, which has one device per kind of token and Live Activity.
struct DevicePlace: Hashable {
    /// The installation; `nil` for a token without a known installation.
    var installation: String?
    var kind: DeviceTokenKind
    var activity: String

    /// Creates the place of a registration. Properties that it leaves out are those of the stored device with its token.
    init(_ registration: DeviceRegistration, _ byToken: RegisteredRow?) {
        let stored = byToken.flatMap { $0.hasLeft ? nil : $0 }
        self.installation = registration.installation ?? stored?.installation
        self.kind = registration.kind ?? stored?.kind ?? .alert
        self.activity = self.kind == .liveActivityUpdate ? registration.activity ?? stored?.activity ?? "" : ""
    }

    /// Returns `true` if a device has this kind and activity.
    func isPlace(of row: RegisteredRow) -> Bool { row.kind == self.kind && row.activity == self.activity }
}

/// Reads stored devices of one app and environment, including those that have left.
struct RegisteredRowReader {
    let app: Int64
    let environment: PushEnvironment
    let database: Database

    private static let columns = "id, token, kind, activity, isActive, hasLeft, user, timeZone, installation"

    /// Returns the device with a token; `nil` if there is none.
    /// - Throws: ``DamagedRow`` if it cannot be read.
    func device(with token: DeviceToken) throws -> RegisteredRow? {
        let sql = "SELECT \(Self.columns) FROM device WHERE app = ? AND environment = ? AND token = ?"
        let statement = try RawStatement(sql: sql, in: self.database)
        defer { statement.reset() }
        statement.bind(self.app, self.environment.code)
        statement.bind(token.bytes, at: 3)
        guard try statement.step() else { return nil }
        guard let row = Self.row(statement) else { throw DamagedRow(table: "device") }
        return row
    }

    /// Returns the devices of a place's installation, in the order of their kinds.
    /// - Throws: ``DamagedRow`` if the device of the place cannot be read. Other damaged devices are left out.
    func devices(of place: DevicePlace) throws -> [RegisteredRow] {
        guard let installation = place.installation else { return [] }
        let sql = """
            SELECT \(Self.columns) FROM device
            WHERE app = ? AND environment = ? AND installation = ? ORDER BY kind, activity
            """
        let statement = try RawStatement(sql: sql, in: self.database)
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

    /// Reads the current row; `nil` for one that cannot be read.
    private static func row(_ statement: RawStatement) -> RegisteredRow? {
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

/// The parts of a profile that are copied between the devices of an installation, which share it.
struct ProfileParts {
    /// Columns of `device`, without the attributes.
    private var columns: [String] = []
    private var hasTags, hasAttributes: Bool

    init(namedBy registration: DeviceRegistration) { self.init(registration, areNamed: true) }

    /// Creates the parts that a registration leaves out, and all attributes, of which a registration has only the
    /// changed ones.
    init(leftOutBy registration: DeviceRegistration) {
        self.init(registration, areNamed: false)
        self.hasAttributes = true
    }

    private init(_ registration: DeviceRegistration, areNamed: Bool) {
        let columns: [(names: [String], isNamed: Bool)] = [
            (["user"], registration.user != nil), (["locale"], registration.locale != nil),
            (["timeZone"], registration.timeZone != nil),
            (["appVersion", "versionNumber"], registration.appVersion != nil),
            (["capabilities"], registration.capabilities != nil),
            (["optOuts", "quietHours"], registration.preferences != nil),
            (["encryptionKeyID", "encryptionKey"], registration.encryptionKey != nil),
        ]
        self.columns = columns.filter { $0.isNamed == areNamed }.flatMap(\.names)
        self.hasTags = (registration.tags != nil) == areNamed
        self.hasAttributes = registration.attributes.isEmpty != areNamed
    }

    /// Copies the parts from one device to another. Equal values are not written, except tags.
    func copy(from source: Int64, to target: Int64, in database: Database) throws {
        let columns = self.columns + (self.hasAttributes ? ["attributes"] : [])
        if !columns.isEmpty {
            let names = columns.joined(separator: ", ")
            let selected = "(SELECT \(names) FROM device WHERE id = ?1)"
            let sql = "UPDATE device SET (\(names)) = \(selected) WHERE id = ?2 AND (\(names)) IS NOT \(selected)"
            if try database.run(sql: sql, source, target) > 0, self.hasAttributes {
                try Self.replace("deviceAttribute", "app, name, value", from: source, to: target, in: database)
            }
        }
        if self.hasTags { try Self.replace("deviceTag", "app, tag", from: source, to: target, in: database) }
    }

    private static func replace(
        _ table: String,
        _ columns: String,
        from source: Int64,
        to target: Int64,
        in database: Database
    ) throws {
        try database.run(sql: "DELETE FROM \(table) WHERE device = ?", target)
        let sql = "INSERT INTO \(table) (\(columns), device) SELECT \(columns), ?2 FROM \(table) WHERE device = ?1"
        try database.run(sql: sql, source, target)
    }
}
