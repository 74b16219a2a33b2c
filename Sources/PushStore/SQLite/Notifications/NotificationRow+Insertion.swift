import Foundation
import GRDB
import PushSupport
import PushTypes

extension NotificationRow {
    /// The columns of a notification that is accepted. The others have their values by default.
    private enum Column: Int, CodingKey, CaseIterable {
        case id, prefix, app, state, lane, guarantee, audience, environment, topic, pushType, tokenKind, priority
        case expiration, collapseID, payload, isTemplate, delivery, pace, schedule, runAt, createdAt, startsAt
        case recipients, idempotencyKey, fingerprint, name, expiresIn, key, keyName, resendOf, receipts
        case consentCategory, ignoresQuietHours, ignoresCap, placeholder, receivedAt, checkedIn, origin, warnings
        case openedAfter, openedAt
    }

    private enum TargetColumn: Int, CodingKey, CaseIterable { case notification, position, token, environment }

    private static let insertion = Column.insertion(into: "notification")
    private static let targetInsertion = TargetColumn.insertion(into: "target")

    /// Adds a notification.
    /// - Parameter opening: The registration clock and the time, for one that is opened as it is accepted; `nil` for any
    ///   other.
    /// - Returns: The store's own number of it.
    static func insert(
        _ notification: NotificationRecord,
        idempotency: Idempotency?,
        opening: (clock: Int64, at: Timestamp)?,
        in database: Database
    ) throws -> Int64 {
        let row = try RowInsertion<Column>(Self.insertion, in: database)
        row.bind(notification.id.uuidString, to: .id)
        row.bind(DeliveryPrefix(of: notification.id).bits, to: .prefix)
        row.bind(notification.app, to: .app)
        row.bind(notification.state.rawValue, to: .state)
        row.bind(notification.lane.rawValue, to: .lane)
        row.bind(notification.guarantee.rawValue, to: .guarantee)
        row.bind(try Self.text(of: notification.audience), to: .audience)
        row.bind(notification.environment?.code, to: .environment)
        row.bind(try notification.delivery?.json.text, to: .delivery)
        row.bind(try notification.pace?.json.text, to: .pace)
        row.bind(notification.run?.schedule.uuidString, to: .schedule)
        row.bind(notification.run?.at.milliseconds, to: .runAt)
        row.bind(notification.createdAt.milliseconds, to: .createdAt)
        row.bind(notification.startsAt.milliseconds, to: .startsAt)
        row.bind(Int64(notification.progress.recipients), to: .recipients)
        row.bind(idempotency?.key, to: .idempotencyKey)
        row.bind((idempotency?.fingerprint).map { Data($0) }, to: .fingerprint)
        row.bind(notification.name, to: .name)
        row.bind(notification.key?.id.uuidString, to: .key)
        row.bind(notification.key?.name, to: .keyName)
        row.bind(notification.resendOf?.uuidString, to: .resendOf)
        row.bind(notification.consent.category, to: .consentCategory)
        row.bind(notification.consent.ignoresQuietHours ? 1 : 0, to: .ignoresQuietHours)
        row.bind(notification.consent.ignoresCap ? 1 : 0, to: .ignoresCap)
        row.bind(notification.acceptance.receivedAt?.milliseconds, to: .receivedAt)
        row.bind(notification.acceptance.checkedIn, to: .checkedIn)
        row.bind(notification.acceptance.origin?.description, to: .origin)
        row.bind(try Self.text(of: notification.acceptance.warnings), to: .warnings)
        row.bind(opening?.clock, to: .openedAfter)
        row.bind(opening?.at.milliseconds, to: .openedAt)
        Self.bind(notification.content, to: row)
        try row.run()
        return database.lastInsertedRowID
    }

    private static func bind(_ content: NotificationContent, to row: RowInsertion<Column>) {
        row.bind(content.topic.name, to: .topic)
        row.bind(content.pushType.rawValue, to: .pushType)
        row.bind(content.tokenKind?.code, to: .tokenKind)
        row.bind(Int64(content.priority.rawValue), to: .priority)
        row.bind(content.expiration.header, to: .expiration)
        row.bind(content.expiresIn, to: .expiresIn)
        row.bind(content.collapseID, to: .collapseID)
        row.bind(content.payload, to: .payload)
        row.bind(content.isTemplate ? 1 : 0, to: .isTemplate)
        row.bind(content.receipts.rawValue, to: .receipts)
        row.bind(content.placeholder, to: .placeholder)
    }

    /// Adds the tokens that a notification names, or the channel.
    static func insertTargets(of notification: NotificationRecord, number: Int64, in database: Database) throws {
        let targets = notification.audience.targets
        guard !targets.isEmpty else { return }
        let row = try RowInsertion<TargetColumn>(Self.targetInsertion, in: database)
        row.bind(number, to: .notification)
        row.bind((notification.environment ?? .production).code, to: .environment)
        for (position, token) in zip(Int64(1)..., targets) {
            row.bind(position, to: .position)
            row.bind(token, to: .token)
            try row.run()
        }
    }
}

extension Audience {
    /// The tokens that the table `target` has. A channel has one row there without a token.
    fileprivate var targets: [[UInt8]] {
        switch self {
        case .tokens(let tokens): tokens.map(\.bytes)
        case .channel: [[]]
        case .devices: []
        }
    }
}
