import Foundation
import ProviderModel
import PushTypes

/// The properties of a notification that decide whether its receipts are accepted.
struct ReceiptNotification {
    let number: Int64
    let id: UUID
    let app: Int64
    /// The kind of token to which the notification is sent, or `nil` for any kind.
    let tokenKind: DeviceTokenKind?
    let environment: PushEnvironment?
    let privacy: ReceiptLevel
    let createdAt: Timestamp
    let finishedAt: Timestamp?
    /// A Boolean value that indicates whether a receipt can arrive before its delivery is in the ledger.
    let isOpen: Bool
    let namesTokens: Bool

    /// Returns the properties of a notification, or `nil` if the notification does not exist or cannot be decoded.
    static func fetch(_ subject: ReceiptBatch.Entry.Subject, in database: any SQLConnection) throws
        -> ReceiptNotification?
    {
        let (column, value): (String, SQLValue) =
            switch subject {
            case .notification(let id): ("id", id.uuidString.sqlValue)
            case .delivery(let prefix, _): ("prefix", prefix.bits.sqlValue)
            }
        // A page of a cancelled notification may still be in flight.
        let sql = """
            SELECT number, id, app, tokenKind, environment, receipts, createdAt, finishedAt,
                audience = '\(NotificationRow.namedTokens)' AS namesTokens,
                openedAfter IS NOT NULL AND (finishedAt IS NULL OR state = 'cancelled' AND (
                    EXISTS (SELECT 1 FROM shard WHERE shard.notification = notification.number)
                    OR EXISTS (SELECT 1 FROM retry WHERE retry.notification = notification.number))) AS isOpen
            FROM notification WHERE \(column) = ?
            """
        guard let row = try database.row(sql: sql, [value]), let number = row["number"] as Int64?,
            let id = row.uuid("id"), let app = row["app"] as Int64?, let createdAt = row.time("createdAt")
        else { return nil }
        return ReceiptNotification(
            number: number,
            id: id,
            app: app,
            tokenKind: row.tokenKind("tokenKind"),
            environment: row.environment("environment"),
            privacy: row.value("receipts") ?? .none,
            createdAt: createdAt,
            finishedAt: row.time("finishedAt"),
            isOpen: row["isOpen"] ?? false,
            namesTokens: row["namesTokens"] ?? false
        )
    }

    /// Returns the reason for refusing a batch's receipts for this notification, or `nil` if they are not refused.
    /// - Parameter app: The app of the sender, or `nil` if the sender is the gateway.
    fileprivate func refusal(of batch: ReceiptBatch, from app: Int64?, now: Timestamp) -> ReceiptRefusal? {
        // An app must not learn anything about another app's notifications.
        if let app, app != self.app { return .unknownNotification }
        guard min(self.privacy, batch.privacy) != .none else { return .receiptsOff }
        if let finishedAt, now.since(finishedAt) > ReceiptLimits.latest { return .tooLate }
        return nil
    }
}

/// The stored identity of the installation or recipient that a receipt is from.
struct ReceiptSubject {
    /// The id of the device, or a negative number if the recipient has no device or its id must not be stored.
    var subject: Int64
    /// The other values of ``subject`` under which earlier receipts of the same installation may be stored: the ids of
    /// its other devices, and the device's id or its pseudonym, whichever ``subject`` is not.
    var others: [Int64] = []
    /// A Boolean value that indicates whether receipts are only counted, so that the device's id must not be stored.
    var isCounted: Bool
    var device: Int64?
    /// The id of the recipient within the notification, or `nil` if it is not known yet.
    var recipient: Int64?
}

/// Decides which receipts of one sender are accepted, and under which identities they are stored.
///
/// A receipt is accepted if its sender may know the notification, if the notification requests receipts, if it is not
/// too late, and if the notification was sent to the sender as far as the ledger knows.
struct ReceiptAcceptance {
    enum Decision {
        case accepted(ReceiptSubject)
        case refused(ReceiptRefusal)
    }

    private let batch: ReceiptBatch
    private let masterKey: MasterKey
    private let database: any SQLConnection
    /// The registered devices of the sending installation, newest first, or `nil` before they have been read.
    private var devices: [InstallationDevice]?
    /// The identities of the sending installation, keyed by the number of the notification.
    private var found: [Int64: ReceiptSubject?] = [:]

    private struct InstallationDevice {
        var id: Int64
        var kind: DeviceTokenKind?
        var environment: PushEnvironment?
    }

    init(_ batch: ReceiptBatch, masterKey: MasterKey, database: any SQLConnection) {
        (self.batch, self.masterKey, self.database) = (batch, masterKey, database)
    }

    /// Decides whether a receipt for a notification is accepted.
    /// - Parameter app: The app of the sender, or `nil` if the sender is the gateway.
    mutating func decide(
        _ entry: ReceiptBatch.Entry.Subject,
        _ notification: ReceiptNotification,
        from app: Int64?,
        now: Timestamp
    ) throws -> Decision {
        if let refusal = notification.refusal(of: self.batch, from: app, now: now) { return .refused(refusal) }
        guard let subject = try self.subject(of: entry, notification) else { return .refused(.unknownNotification) }
        return .accepted(subject)
    }

    /// Returns the identity for the sender's receipts, or `nil` if the notification was not sent to the sender.
    private mutating func subject(
        of entry: ReceiptBatch.Entry.Subject,
        _ notification: ReceiptNotification
    ) throws -> ReceiptSubject? {
        switch (self.batch.sender, entry) {
        case (.installation(let installation, _), .notification):
            if let known = self.found[notification.number] { return known }
            let subject = try self.subject(ofInstallation: installation, notification)
            self.found[notification.number] = .some(subject)
            return subject
        case (.gateway, .delivery(_, let recipient)): return try self.subject(ofRecipient: recipient, notification)
        case (.installation, .delivery), (.gateway, .notification): return nil
        }
    }

    private mutating func subject(
        ofInstallation installation: String,
        _ notification: ReceiptNotification
    ) throws -> ReceiptSubject? {
        let devices = try self.devices(of: installation, app: notification.app).filter { device in
            (notification.tokenKind == nil || device.kind == notification.tokenKind)
                && (notification.environment == nil || device.environment == notification.environment)
        }
        var arrived: Int64?
        var inFlight: Int64?
        for candidate in devices {
            // The ledger does not contain a push in flight yet.
            guard let mayHaveArrived = try self.mayHaveArrived(notification, device: candidate.id) else {
                inFlight = inFlight ?? candidate.id
                continue
            }
            guard mayHaveArrived else { continue }
            arrived = candidate.id
            break
        }
        guard let device = arrived ?? (notification.isOpen ? inFlight : nil) else { return nil }
        return self.subject(
            notification,
            device: device,
            installation: installation,
            others: devices.map(\.id).filter { $0 != device }
        )
    }

    /// Returns the identity for the recipient of a push that the gateway has delivered, or `nil` for an unknown push.
    private func subject(ofRecipient recipient: Int64, _ notification: ReceiptNotification) throws -> ReceiptSubject? {
        let sql = "SELECT state, device FROM delivery WHERE notification = ? AND recipient = ?"
        let delivery = try self.database.row(sql: sql, [notification.number, recipient])
        guard delivery != nil || notification.isOpen else { return nil }
        var device = recipient > 0 ? recipient : delivery?["device"] as Int64?
        if device == nil, delivery == nil {
            let sql = """
                SELECT device.id FROM target JOIN device ON device.app = ?1 AND device.token = target.token
                    AND device.environment = target.environment
                WHERE target.notification = ?2 AND target.position = -?3
                """
            device = try self.database.integer(sql: sql, [notification.app, notification.number, recipient])
        }
        guard let device else {
            // The recipient of an unregistered token has no device.
            let name = "recipient \(recipient)"
            var subject = self.subject(notification, device: recipient, installation: name, others: [])
            (subject.device, subject.recipient) = (nil, recipient)
            return subject
        }
        // A receipt must not recreate data about an erased device.
        guard let row = try self.database.row(sql: "SELECT installation FROM device WHERE id = ?", [device])
        else { return nil }
        let installation = row["installation"] as String? ?? "device \(device)"
        var subject = self.subject(notification, device: device, installation: installation, others: [])
        subject.recipient = recipient
        return subject
    }

    private func subject(
        _ notification: ReceiptNotification,
        device: Int64,
        installation: String,
        others: [Int64]
    ) -> ReceiptSubject {
        let bits = self.masterKey.pseudonym(of: installation, app: notification.app, notification: notification.number)
        // The pseudonym is below the ids of all recipients.
        let counted = -(1 << 62) - bits
        guard notification.privacy == .device else { return ReceiptSubject(subject: counted, isCounted: true) }
        guard self.batch.privacy == .device
        else { return ReceiptSubject(subject: counted, others: [device] + others, isCounted: true) }
        return ReceiptSubject(subject: device, others: others + [counted], isCounted: false, device: device)
    }

    private mutating func devices(of installation: String, app: Int64) throws -> [InstallationDevice] {
        if let known = self.devices { return known }
        let sql = "SELECT id, kind, environment FROM device WHERE app = ? AND installation = ? AND hasLeft = 0"
        let statement = try self.database.prepare(sql)
        defer { statement.reset() }
        statement.bind(app, at: 1)
        statement.bind(installation, at: 2)
        var devices: [InstallationDevice] = []
        while try statement.step() {
            devices.append(
                InstallationDevice(
                    id: statement.integer(0),
                    kind: DeviceTokenKind(code: statement.integer(1)),
                    environment: PushEnvironment(code: statement.integer(2))
                )
            )
        }
        devices.sort { $0.id > $1.id }
        self.devices = devices
        return devices
    }

    /// Returns `true` if the ledger has a delivery that may have reached the device, `false` if the delivery cannot
    /// have reached it, and `nil` if the ledger has no delivery to the device.
    private func mayHaveArrived(_ notification: ReceiptNotification, device: Int64) throws -> Bool? {
        let sql = """
            SELECT state FROM delivery WHERE notification = ?1 AND recipient = ?2
            UNION ALL SELECT state FROM delivery INDEXED BY deliveryByDevice WHERE device = ?2 AND notification = ?1
            """
        let statement = try self.database.prepare(sql)
        defer { statement.reset() }
        statement.bind(notification.number, device)
        var mayHaveArrived: Bool?
        while try statement.step() {
            switch DeliveryRecord.State(rawValue: statement.integer(0)) {
            case .rejected, .skipped, .failed: mayHaveArrived = mayHaveArrived ?? false
            default: mayHaveArrived = true
            }
        }
        return mayHaveArrived
    }
}
