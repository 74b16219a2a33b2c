import ProviderModel

/// The fields of a profile that are copied between the devices of an installation, which share the profile.
struct ProfileParts {
    /// The columns of `device` to copy, except the attributes.
    private var columns: [String] = []
    private var hasTags, hasAttributes: Bool

    init(namedBy registration: DeviceRegistration) { self.init(registration, areNamed: true) }

    /// Selects the fields that a registration omits, and all attributes, of which it contains only changed ones.
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

    /// Copies the fields from one device to another. Fields that are equal are not written, except for tags.
    func copy(from source: Int64, to target: Int64, in database: any SQLConnection) throws {
        let columns = self.columns + (self.hasAttributes ? ["attributes"] : [])
        if !columns.isEmpty {
            let names = columns.joined(separator: ", ")
            let differ = columns.map { "device.\($0) IS NOT source.\($0)" }.joined(separator: " OR ")
            let sql = """
                UPDATE device SET (\(names)) = (SELECT \(names) FROM device WHERE id = ?1)
                WHERE id = ?2 AND EXISTS (SELECT 1 FROM device AS source WHERE source.id = ?1 AND (\(differ)))
                """
            if try database.run(sql: sql, source, target) > 0, self.hasAttributes {
                let stored = (["app", "name"] + database.attributes.names).joined(separator: ", ")
                try Self.replace("deviceAttribute", stored, from: source, to: target, in: database)
            }
        }
        if self.hasTags { try Self.replace("deviceTag", "app, tag", from: source, to: target, in: database) }
    }

    private static func replace(
        _ table: String,
        _ columns: String,
        from source: Int64,
        to target: Int64,
        in database: any SQLConnection
    ) throws {
        try database.run(sql: "DELETE FROM \(table) WHERE device = ?", target)
        let sql = "INSERT INTO \(table) (\(columns), device) SELECT \(columns), ?2 FROM \(table) WHERE device = ?1"
        try database.run(sql: sql, source, target)
    }
}
