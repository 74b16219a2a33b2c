package import PushHTTP
package import PushProvider
package import PushStore
import PushSupport
import PushTypes

extension NotificationRecord.State: JSONRepresentable {}
extension NotificationRecord.Guarantee: JSONRepresentable {}

/// A notification in a response, with its progress.
struct NotificationResponse: ResponseObject {
    let notification: NotificationRecord
    /// The bundle id of the app; `nil` if the app was removed.
    let app: Topic?
    /// The time at which the speed is computed.
    let now: Timestamp
    /// The audience, which only the response to a request for this one notification has.
    var audience: Audience?
    /// The warnings, which only the response to the sending request has.
    var warnings: [ContentWarning]?

    private var content: NotificationContent { self.notification.content }
    private var progress: NotificationProgress { self.notification.progress }
    private var speed: NotificationSpeed { NotificationSpeed(self.notification, now: self.now) }
    /// The present wave; `nil` before the first one, and for a notification without waves.
    private var wave: WaveProgress? { self.progress.wave.startedAt == nil ? nil : self.progress.wave }

    static let schemaName: String? = "Notification"
    static let members: [ResponseMember<Self>] =
        Self.options + [
            .optional("to", \.audience?.json),
            .required("recipients", \.progress.recipients, "Counted at the start; at the end all with a final state."),
            .required("counters", \.progress),
            .optional("ratePerSecond", \.speed.rate, "The recipients per second, since the first page."),
            .optional("secondsLeft", \.speed.secondsLeft),
            .optional("wave", \.wave),
            .optional("pauseReason", \.progress.pauseReason),
            .optional("schedule", \.notification.run),
            .required("createdAtMs", \.notification.createdAt),
            .required("startsAtMs", \.notification.startsAt),
            .optional("startedAtMs", \.progress.startedAt),
            .optional("finishedAtMs", \.progress.finishedAt),
            .optional("warnings", \.warnings),
        ]

    /// The members that do not change while the notification is sent, and its state.
    private static let options: [ResponseMember<Self>] = [
        .required("id", \.notification.id),
        .optional("app", \.app),
        .required("state", \.notification.state),
        .required("lane", \.notification.lane.name, as: .choice(NotificationRecord.Lane.allCases.map(\.name))),
        .required("guarantee", \.notification.guarantee),
        .optional("environment", \.notification.environment),
        .required("topic", \.content.topic),
        .required("pushType", \.content.pushType.rawValue),
        .required("priority", \.content.priority.rawValue),
        .optional("collapseId", \.content.collapseID),
        .optional("when", \.notification.delivery?.json),
        .optional("pace", \.notification.pace?.json),
    ]
}

/// The number of recipients in each state.
extension NotificationProgress: ResponseObject {
    package static let members: [ResponseMember<Self>] = [
        .required("accepted", \.accepted),
        .required("rejected", \.rejected),
        .required("failed", \.failed),
        .required("skipped", \.skipped),
        .required("retrying", \.retrying),
    ]
}

/// The present wave of a notification that is sent in waves.
extension WaveProgress: ResponseObject {
    package static let members: [ResponseMember<Self>] = [
        .required("sent", \.sent), .optional("startedAtMs", \.startedAt),
    ]
}

/// The run of a schedule that sent the notification.
extension ScheduleRun: ResponseObject {
    package static let members: [ResponseMember<Self>] = [.required("id", \.schedule), .required("atMs", \.at)]
}

/// A member that is allowed and probably not intended.
extension ContentWarning: ResponseObject {
    package static let schemaName: String? = "Warning"
    package static let members: [ResponseMember<Self>] = [
        .required("field", \.field),
        .required("message", \.message, "Something that is allowed and probably not intended."),
    ]
}

/// The mean rate of a notification since its first page.
struct NotificationSpeed {
    /// The recipients per second, rounded to tenths; `nil` before the first final state.
    let rate: Double?
    /// The time until all recipients have a final state; `nil` while nothing is sent.
    let secondsLeft: Int?

    /// - Parameter now: The end of the time that is averaged, unless the notification is paused or has ended.
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
    var name: String { self == .urgent ? "urgent" : "bulk" }
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
