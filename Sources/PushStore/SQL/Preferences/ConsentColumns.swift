import ProviderModel
import PushTypes

/// The columns that decide whether a notification's recipients are skipped for lack of consent. There are none if no
/// device of the app can be skipped.
///
/// One index look-up per page determines whether any device of the app has quiet hours or has disallowed alerts. The
/// columns for these are read only if so.
struct ConsentColumns: Hashable, Sendable {
    /// The consent category enclosed in line feeds, as in ``StoredOptOuts``, or `nil` if the notification has none.
    private var category: String?
    private var asksAlerts = false, isEncrypted = false
    /// A Boolean value that indicates whether quiet hours of some user or device apply to the notification.
    private(set) var asksQuietHours = false

    static let none = ConsentColumns()

    /// The properties of a notification that determine the columns.
    struct Question: Hashable {
        let app: Int64
        let rules: ConsentRules
        let isAlert, isEncrypted: Bool

        init(_ notification: NotificationRecord) {
            (self.app, self.rules) = (notification.app, notification.consent)
            self.isAlert = notification.content.pushType == .alert
            self.isEncrypted = notification.content.placeholder != nil
        }
    }

    private init() {}

    init(_ notification: NotificationRecord, in database: any SQLConnection) throws {
        try self.init(notification.content, notification.consent, app: notification.app, in: database)
    }

    init(_ content: NotificationContent, _ rules: ConsentRules, app: Int64, in database: any SQLConnection) throws {
        self.category = rules.category.map { "\n\($0)\n" }
        self.isEncrypted = content.placeholder != nil
        if content.pushType == .alert {
            let sql = """
                SELECT 1 FROM device INDEXED BY deviceWithoutAlerts
                WHERE app = ? AND \(DeviceCapabilities.withoutAlerts) LIMIT 1
                """
            self.asksAlerts = try database.hasRow(sql: sql, app)
        }
        if !rules.ignoresQuietHours {
            let devices =
                "SELECT 1 FROM device INDEXED BY deviceWithQuietHours WHERE app = ? AND quietHours IS NOT NULL LIMIT 1"
            let users = """
                SELECT 1 FROM userPreference INDEXED BY userWithQuietHours
                WHERE app = ? AND quietHours IS NOT NULL LIMIT 1
                """
            self.asksQuietHours = try database.hasRow(sql: devices, app) || database.hasRow(sql: users, app)
        }
    }

    var isEmpty: Bool { self == .none }

    private static func ofUser(_ column: String) -> String {
        "(SELECT \(column) FROM userPreference WHERE app = device.app AND userPreference.user = device.user)"
    }

    private static var quietHours: String { "coalesce(\(Self.ofUser("userPreference.quietHours")), device.quietHours)" }

    /// The SQL of the columns, in the order in which ``consent(_:from:)`` reads them.
    var names: [String] {
        var names: [String] = []
        if self.category != nil { names += ["device.optOuts", Self.ofUser("userPreference.optOuts")] }
        if self.asksAlerts { names.append("device.capabilities") }
        if self.isEncrypted { names += ["device.encryptionKeyID", "device.encryptionKey"] }
        if self.asksQuietHours { names.append(Self.quietHours) }
        return names
    }

    /// The SQL of the values that decide whether a recipient is skipped, for a `GROUP BY` clause.
    var groups: (names: [String], arguments: [SQLValue]) {
        var (names, arguments): ([String], [SQLValue]) = ([], [])
        if let category = self.category {
            let optOuts = ["device.optOuts", Self.ofUser("userPreference.optOuts")]
            let isOut = optOuts.map { "instr(coalesce(\($0), ''), ?) > 0" }.joined(separator: " OR ")
            names += ["iif(\(isOut), ?, NULL)", "NULL"]
            arguments += Array(repeating: category.sqlValue, count: 3)
        }
        if self.asksAlerts {
            let other = DeviceCapabilities.background.rawValue
            names.append("iif(\(DeviceCapabilities.withoutAlerts), \(other), 0)")
        }
        if self.isEncrypted {
            let hasKey = "length(device.encryptionKey) = \(InstallationPublicKey.length)"
            names += ["iif(\(hasKey), '', NULL)", "iif(\(hasKey), zeroblob(\(InstallationPublicKey.length)), NULL)"]
        }
        if self.asksQuietHours { names.append(Self.quietHours) }
        return (names, arguments)
    }

    /// Decodes the consent from a device's row, or `nil` if no recipient can be skipped for lack of consent.
    /// - Parameter position: The index of the first consent column.
    func consent(_ statement: any SQLStatement, from position: Int32) -> RecipientConsent? {
        guard !self.isEmpty else { return nil }
        var (consent, position) = (RecipientConsent(), position)
        if let category = self.category {
            let isOut = [position, position + 1].contains { statement.text($0)?.utf8.contains(category.utf8) ?? false }
            if isOut { consent.skips = .optedOut }
            position += 2
        }
        if self.asksAlerts {
            let capabilities = DeviceCapabilities(rawValue: statement.integer(position))
            if !capabilities.isEmpty, !capabilities.contains(.alert) {
                consent.skips = consent.skips ?? .alertsNotAllowed
            }
            position += 1
        }
        if self.isEncrypted {
            if let id = statement.text(position), case let bytes = statement.bytes(position + 1),
                bytes.count == InstallationPublicKey.length
            {
                consent.encryptionKey = InstallationPublicKey(id: id, bytes: bytes)
            } else {
                consent.skips = consent.skips ?? .noEncryptionKey
            }
            position += 2
        }
        if self.asksQuietHours { consent.quietHours = statement.text(position).flatMap(QuietHours.init(stored:)) }
        return consent
    }

    /// The consent of a named token that is not registered, or `nil` if the notification is not encrypted. An encrypted
    /// notification skips the token, because its encryption key is unknown.
    var unregistered: RecipientConsent? { self.isEncrypted ? RecipientConsent(skips: .noEncryptionKey) : nil }
}

extension DeviceCapabilities {
    /// The SQL condition on a device that has reported capabilities without alerts. Migration 9 creates its index.
    static let withoutAlerts = "capabilities != 0 AND capabilities & \(DeviceCapabilities.alert.rawValue) = 0"
}
