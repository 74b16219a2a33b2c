import Foundation
import PushHTTP
import PushProvider
import PushStore
import PushSupport
import PushTypes

/// A notification in a response, with its progress.
struct NotificationResponse: Encodable {
    /// The number of recipients in each state.
    struct Counters: Encodable {
        var accepted: Int
        var rejected: Int
        var failed: Int
        var skipped: Int
        var retrying: Int
    }

    /// The present wave of a notification that is sent in waves.
    struct Wave: Encodable {
        var sent: Int
        var startedAtMs: Int64?
    }

    /// The run of a schedule that sent the notification.
    struct Run: Encodable {
        var id: String
        var atMs: Int64
    }

    /// A member that is allowed and probably not intended.
    struct Warning: Encodable {
        var field: String
        var message: String

        init(_ warning: ContentWarning) {
            self.field = warning.field
            self.message = warning.message
        }

        static let schema = Schema.object(required: [
            "field": .string(), "message": .string().described("Something that is allowed and probably not intended."),
        ]).named("Warning")
    }

    var id: String
    var app: String?
    var state: String
    var lane: String
    var guarantee: String
    var environment: String?
    var topic: String
    var pushType: String
    var priority: Int
    var collapseId: String?
    var to: JSONValue?
    var when: JSONValue?
    var pace: JSONValue?
    var recipients: Int
    var counters: Counters
    var ratePerSecond: Double?
    var secondsLeft: Int?
    var wave: Wave?
    var pauseReason: String?
    var schedule: Run?
    var createdAtMs: Int64
    var startsAtMs: Int64
    var startedAtMs: Int64?
    var finishedAtMs: Int64?
    var warnings: [Warning]?

    /// - Parameter app: the bundle id of the app.
    init(_ notification: NotificationRecord, app: Topic?, now: Timestamp) {
        self.id = notification.id.uuidString
        self.app = app?.name
        self.state = notification.state.rawValue
        self.lane = notification.lane.name
        self.guarantee = notification.guarantee.rawValue
        self.environment = notification.environment?.rawValue
        self.topic = notification.content.topic.name
        self.pushType = notification.content.pushType.rawValue
        self.priority = Int(notification.content.priority.rawValue)
        self.collapseId = notification.content.collapseID
        self.when = notification.delivery.flatMap { try? JSONValue(parsing: $0) }
        self.pace = notification.pace.flatMap { try? JSONValue(parsing: $0) }
        let progress = notification.progress
        self.recipients = progress.recipients
        self.counters = Counters(
            accepted: progress.accepted,
            rejected: progress.rejected,
            failed: progress.failed,
            skipped: progress.skipped,
            retrying: progress.retrying
        )
        let speed = NotificationSpeed(notification, now: now)
        self.ratePerSecond = speed.rate
        self.secondsLeft = speed.secondsLeft
        if progress.wave.startedAt != nil {
            self.wave = Wave(sent: progress.wave.sent, startedAtMs: progress.wave.startedAt?.milliseconds)
        }
        self.pauseReason = progress.pauseReason
        self.schedule = notification.run.map { Run(id: $0.schedule.uuidString, atMs: $0.at.milliseconds) }
        self.createdAtMs = notification.createdAt.milliseconds
        self.startsAtMs = notification.startsAt.milliseconds
        self.startedAtMs = progress.startedAt?.milliseconds
        self.finishedAtMs = progress.finishedAt?.milliseconds
    }

    static let schema = Schema.object(
        required: [
            "id": .uuid, "state": .choice(of: NotificationRecord.State.self),
            "lane": .choice(NotificationRecord.Lane.allCases.map(\.name)),
            "guarantee": .choice(of: NotificationRecord.Guarantee.self), "topic": .string(),
            "pushType": .string(), "priority": .integer(),
            "recipients": .integer().described(
                "Counted at the start; at the end the sum of all final states."
            ),
            "counters": .object(required: [
                "accepted": .integer(), "rejected": .integer(), "failed": .integer(), "skipped": .integer(),
                "retrying": .integer(),
            ]), "createdAtMs": .timestamp, "startsAtMs": .timestamp,
        ],
        optional: [
            "app": .string(), "environment": .environment, "collapseId": .string(),
            "to": .object(isOpen: true), "when": .object(isOpen: true), "pace": .object(isOpen: true),
            "ratePerSecond": .number, "secondsLeft": .integer(),
            "wave": .object(required: ["sent": .integer()], optional: ["startedAtMs": .timestamp]),
            "pauseReason": .string(), "schedule": .object(required: ["id": .uuid, "atMs": .timestamp]),
            "startedAtMs": .timestamp, "finishedAtMs": .timestamp, "warnings": .array(of: Warning.schema),
        ]
    ).named("Notification")
}

/// The mean rate of a notification since its first page.
struct NotificationSpeed {
    /// The recipients per second.
    let rate: Double?
    let secondsLeft: Int?

    init(_ notification: NotificationRecord, now: Timestamp) {
        let progress = notification.progress
        guard let start = progress.startedAt, progress.finished > 0 else {
            (self.rate, self.secondsLeft) = (nil, nil)
            return
        }
        let isMoving = notification.state == .sending || notification.state == .accepted
        let end = progress.finishedAt ?? (isMoving ? now : progress.lastPageAt ?? now)
        let seconds = max(end.since(start) / .seconds(1), 0.001)
        let rate = Double(progress.finished) / seconds
        self.rate = (rate * 10).rounded() / 10
        let left = Double(max(0, progress.recipients - progress.finished)) / rate
        self.secondsLeft = isMoving ? Int(exactly: min(left, 1e12).rounded(.up)) : nil
    }
}

extension NotificationRecord.Lane {
    /// The name in a response.
    var name: String {
        switch self {
        case .urgent: "urgent"
        case .bulk: "bulk"
        }
    }
}

extension Audience {
    /// The member `to` of the request, in canonical form.
    var json: JSONValue {
        switch self {
        case .tokens(let tokens): .object(["tokens": .array(tokens.map { .string($0.hex) })])
        case .devices(let expression): expression.json
        }
    }
}
