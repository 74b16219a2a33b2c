package import ProviderModel
package import PushHTTP
package import PushProvider
package import PushSupport
package import PushTypes

extension NotificationRecord.State: JSONRepresentable {}
extension NotificationRecord.Guarantee: JSONRepresentable {}

/// The response object for a notification, with its progress.
package struct NotificationResponse: ResponseObject {
    package let notification: NotificationRecord
    /// The bundle id of the app, or `nil` if the app was removed.
    package let app: Topic?
    /// The current time by both clocks, from which the sending rate and the time of completion are estimated.
    let clocks: ClockReading
    /// The time at which the notification starts in the first time zone, see
    /// ``NotificationForecast/firstStart(of:in:)``; `nil` in lists.
    var firstStart: Timestamp?
    /// The audience; `nil` in lists.
    var audience: Audience?
    /// The content; `nil` in lists.
    package var content: ContentResponse?
    /// The scopes of the API key that sent the notification; `nil` except in the response to that request.
    var scopes: [String]?
    /// The outcomes of the recipients; `nil` except in the response to a request that sends the notification and waits.
    package var outcomes: [OutcomeResponse]?
    /// The number of recipients without a final state; `nil` without ``outcomes``.
    var pending: Int?
    /// The warnings about the request; `nil` except in the response to the request that sends the notification.
    var warnings: [ContentWarning]?
    /// The environments that are paused or failing, for which pushes of the notification wait or fail; `nil` in lists.
    var environments: [EnvironmentResponse]?

    /// The stop of the app; `nil` in lists, and while the app is not stopped.
    var stop: AppStopResponse?

    /// The numbers of skipped recipients, by reason; `nil` in lists.
    var skipped: [SkippedRecipients]?

    /// The numbers of receipts, by event; `nil` in lists.
    package var receiptCounts: [ReceiptCountResponse]?

    /// The number of pushes that were already in flight when the notification was paused or cancelled; `nil` in all
    /// other responses.
    var underWay: Int?

    /// The downloads that hold back the next wave; `nil` if it is not held back until devices have finished
    /// downloading.
    package var steered: HeldWave?

    private var quietHours: String? { self.notification.consent.ignoresQuietHours ? "ignore" : nil }
    private var headers: NotificationContent { self.notification.content }
    private var key: SendingKey? { self.notification.key.map { SendingKey(key: $0, scopes: self.scopes) } }
    /// The expiration in the JSON form of requests: RFC 3339, or 0 for pushes that are not stored for devices that are
    /// offline. `nil` leaves it to the push service.
    package var expiration: JSONValue? {
        switch self.headers.expiration {
        case .servicePolicy: nil
        case .immediate: .integer(0)
        case .at(let seconds): .string(Timestamp(seconds: seconds).rfc3339)
        }
    }
    private var progress: NotificationProgress { self.notification.progress }
    package var forecast: NotificationForecast {
        let paused = self.environments?.lazy.compactMap(\.status).first { $0.isPaused }
        return NotificationForecast(
            self.notification,
            firstStart: self.firstStart,
            clocks: self.clocks,
            paused: paused,
            steered: self.steered
        )
    }
    /// The current wave; `nil` before the first one, and for a notification without waves.
    package var wave: WaveProgress? { self.progress.wave.startedAt == nil ? nil : self.progress.wave }

    package static let schemaName: String? = "Notification"
    package static let members: [ResponseMember<Self>] =
        Self.options + [
            .optional("to", \.audience?.json),
            .optional("content", \.content, "Not in lists."),
            .required("recipients", \.progress.recipients, "Counted at the start; at the end all with a final state."),
            .required("counters", \.progress),
            .optional("skipped", \.skipped, "The skipped recipients by the reason, the commonest first. Not in lists."),
            .optional(
                "ratePerSecond",
                \.forecast.rate,
                "The recipients per second since the first page, in open hours."
            ),
            .optional("nextAtMs", \.forecast.nextAt, "When something is sent next; absent while that is now."),
            .optional("waitingFor", \.forecast.cause, "The cause for which nothing is sent before nextAt."),
            .optional("secondsLeft", \.forecast.secondsLeft, "An estimate; absent if it is not known."),
            .optional("finishesAtMs", \.forecast.finishesAt, "An estimate; absent if it is not known."),
            .optional("wave", \.wave),
            .optional("steering", \.steered, "The downloads for which the next wave waits."),
            .optional("pauseReason", \.progress.pauseReason),
            .optional("environmentStates", \.environments, "Its environments that are paused or failing."),
            .optional(
                "underWay",
                \.underWay,
                "The pushes that a pause or cancellation could not take back: the last ones."
            ),
            .optional("appStop", \.stop, "Present while everything of the app is stopped."),
            .optional("schedule", \.notification.run),
            .required("createdAtMs", \.notification.createdAt),
            .required("startsAtMs", \.notification.startsAt),
            .optional("startedAtMs", \.progress.startedAt),
            .optional("finishedAtMs", \.progress.finishedAt),
            .optional("outcomes", \.outcomes, "The recipients of a request with wait."),
            .optional("pending", \.pending, "The recipients of a request with wait that have no final state yet."),
            .optional("warnings", \.warnings),
            .optional("receiptCounts", \.receiptCounts, "The receipts by event, as apps and the gateway report them."),
        ]

    /// The members that are in lists too: those that do not change while the notification is being sent, and the state.
    private static let options: [ResponseMember<Self>] = [
        .required("id", \.notification.id),
        .optional("app", \.app),
        .optional("name", \.notification.name),
        .optional("key", \.key, "The API key of the request, or of the schedule."),
        .optional("resendOf", \.notification.resendOf, "The notification whose failed recipients this one is for."),
        .required("state", \.notification.state),
        .required("lane", \.notification.lane.name, as: .choice(NotificationRecord.Lane.allCases.map(\.name))),
        .required("guarantee", \.notification.guarantee),
        .optional("environment", \.notification.environment),
        .required("topic", \.headers.topic),
        .required("pushType", \.headers.pushType.rawValue),
        .required("priority", \.headers.priority.rawValue),
        .optional(
            "expiration",
            \.expiration,
            as: .any(of: [.integer(0...0), .string()]),
            "RFC 3339, or 0 for one attempt without storage."
        ),
        .optional("expiresIn", \.headers.expiresIn, "Seconds from each recipient's start."),
        .optional("collapseId", \.headers.collapseID),
        .optional("consentCategory", \.notification.consent.category),
        .optional("quietHours", \.quietHours, as: .choice(["ignore"]), "ignore, or absent."),
        .optional("encrypted", { $0.headers.placeholder == nil ? nil : true }, "true, or absent."),
        .optional("when", \.notification.delivery?.json),
        .optional("pace", \.notification.pace?.json),
        .required("receipts", \.headers.receipts.word, as: .choice(ReceiptLevel.allCases.map(\.word))),
    ]
}

/// The API key that sent a notification, with its scopes at that time.
struct SendingKey: ResponseObject {
    let key: KeyReference
    let scopes: [String]?

    static let schemaName: String? = "SendingKey"
    static let members: [ResponseMember<Self>] = [
        .required("id", \.key.id),
        .required("name", \.key.name, "Its name at that time."),
        .optional("scopes", \.scopes, as: .array(of: .choice(of: APIScope.self)), "In the response to the sending."),
    ]
}

extension KeyReference: ResponseObject {
    package static let members: [ResponseMember<Self>] = [
        .required("id", \.id), .required("name", \.name, "Its name at that time."),
    ]
}

/// The response object for a notification's progress: the numbers of recipients in each state.
extension NotificationProgress: ResponseObject {
    package static let members: [ResponseMember<Self>] = [
        .required("accepted", \.accepted),
        .required("rejected", \.rejected),
        .required("failed", \.failed),
        .required("skipped", \.skipped),
        .required("unknown", \.unknown, "Sent, the response was lost, and not sent again."),
        .required("retrying", \.retrying),
    ]
}

/// The current wave of a notification that is sent in waves.
extension WaveProgress: ResponseObject {
    package static let members: [ResponseMember<Self>] = [
        .required("sent", \.sent), .optional("startedAtMs", \.startedAt),
    ]
}

/// The response object for the downloads that hold back the next wave of a notification.
extension HeldWave: ResponseObject {

    package static let members: [ResponseMember<Self>] = [
        .optional("openDownloads", \.figures?.open, "Those of the app; absent while they are not known."),
        .optional("bytesPerSecond", \.figures?.bytesPerSecond, "Those of the app's downloads, over ten seconds."),
    ]
}

/// The response object for the run of a schedule that created a notification.
extension ScheduleRun: ResponseObject {
    package static let members: [ResponseMember<Self>] = [.required("id", \.schedule), .required("atMs", \.at)]
}

/// A warning about a member of a request that is allowed, but probably a mistake.
extension ContentWarning: ResponseObject {
    package static let schemaName: String? = "Warning"
    package static let members: [ResponseMember<Self>] = [
        .required("field", \.field),
        .required("message", \.message, "Something that is allowed and probably not intended."),
    ]
}

extension ContentWarning {
    /// Returns a warning if the notification is complete and had no recipients.
    static func nobodyReached(by notification: NotificationRecord) -> [ContentWarning] {
        guard notification.state == .done, notification.progress.recipients == 0 else { return [] }
        return [ContentWarning(field: "to", message: "no active device matches: nobody gets this notification")]
    }
}

extension NotificationForecast.Cause: JSONRepresentable {}

extension NotificationRecord.Lane {
    /// The name of the lane in the API, `urgent` or `bulk`.
    var name: String { self == .urgent ? "urgent" : "bulk" }
}

extension Audience {
    /// The member `to` of the request, in canonical form.
    package var json: JSONValue {
        switch self {
        case .tokens(let tokens): .object(["tokens": .array(tokens.map { .string($0.hex) })])
        case .devices(let expression): expression.json
        case .channel(let channel): .object(["channel": .string(channel.id.text)])
        }
    }

    /// The number of recipients that a request names itself: the number of its tokens, or 1 for a channel; `nil` for an
    /// audience of devices, which the store must count.
    var namedCount: Int? {
        switch self {
        case .tokens(let tokens): tokens.count
        case .channel: 1
        case .devices: nil
        }
    }
}

/// The response object for a notification's content: the payload for all devices, or the template from which payloads
/// are rendered.
package struct ContentResponse: ResponseObject {
    /// The maximum length of stored content that a response includes, in bytes. Longer content is omitted. With
    /// localizations, the response may be longer.
    private static let maximumBytes = 128 * 1024

    /// The payload, whose template variables are not replaced; `nil` if it is too long or damaged.
    package let payload: JSONValue?
    /// The payloads of the localizations, by locale; `nil` unless the content is a template that is not too long.
    package let localizations: [String: JSONValue]?
    /// The number that is added to the user's badge count; `nil` if the content does not increment the count.
    let badgeIncrement: Int?
    let isTemplate: Bool
    let bytes: Int

    init(_ content: NotificationContent) {
        (self.isTemplate, self.bytes) = (content.isTemplate, content.payload.count)
        guard self.bytes <= Self.maximumBytes else {
            (self.payload, self.localizations, self.badgeIncrement) = (nil, nil, nil)
            return
        }
        guard content.isTemplate else {
            (self.payload, self.localizations) = (try? JSONValue(parsing: content.payload), nil)
            self.badgeIncrement = nil
            return
        }
        let template = try? PayloadTemplate(stored: content.payload)
        self.payload = template.map { .object($0.payload) }
        self.localizations = template?.localizations.mapValues { .object($0) }
        self.badgeIncrement = template?.badge?.increment
    }

    package static let schemaName: String? = "Content"
    package static let members: [ResponseMember<Self>] = [
        .optional("payload", \.payload, "With variables as they were given; absent if the content is very long."),
        .optional("localizations", \.localizations, "The payloads of the localizations."),
        .optional("badgeIncrement", \.badgeIncrement, "Added to the user's badge count."),
        .required("template", \.isTemplate, "true if each device gets a payload of its own."),
        .required("bytes", \.bytes, "The size of what is stored."),
    ]
}
