import PushStore
import PushSupport
import PushTypes

/// The entry of a failure in a response and in a post to the hook.
struct GorushLogEntry: Hashable, Sendable {
    /// The longest text that is repeated for each token, in bytes: a response may have very many.
    static let maximumText = 256
    /// The longest error of an entry that repeats nothing else, in bytes.
    private static let maximumShortError = 64
    /// The maximum number of bytes that the entries of a response repeat.
    private static let maximumRepeated = 1024 * 1024

    let id: String?
    /// The token as it came, whole: its owner cleans a table by it.
    let token: String
    let message: String
    /// The push service's reason, or a text.
    let error: String

    init(_ notification: GorushNotification, token: String, error: String) {
        (self.id, self.message) = (notification.id, notification.message)
        (self.token, self.error) = (token, error)
    }

    var json: JSONValue {
        .members([
            "notif_id": self.id.map { .string($0) }, "type": .string("failed-push"), "platform": .string("ios"),
            "token": .string(self.token), "message": .string(self.message), "error": .string(self.error),
        ])
    }

    /// The entry with what is its own alone.
    private var shortJSON: JSONValue {
        .object([
            "type": .string("failed-push"), "platform": .string("ios"), "token": .string(self.token),
            "error": .string(self.error.bounded(bytes: Self.maximumShortError)),
        ])
    }

    /// Returns the entries of a response.
    ///
    /// A short request can cause very many. Once they have repeated ``maximumRepeated`` bytes, those that follow repeat neither
    /// id nor message.
    static func json(_ entries: [GorushLogEntry]) -> JSONValue {
        var repeated = 0
        let values = entries.map { entry in
            repeated += (entry.id?.utf8.count ?? 0) + entry.message.utf8.count + entry.error.utf8.count
            return repeated <= Self.maximumRepeated ? entry.json : entry.shortJSON
        }
        return .array(values)
    }
}

/// The words of failures.
enum GorushFailure {
    /// Returns the push service's reason for what the provider's own check found, or an explanation.
    ///
    /// None of the reasons accuses a token: an error concerns all tokens of a notification, of which one may be at fault.
    static func text(_ error: RequestError) -> String {
        switch (error.code, error.path?.prefix { $0 != "." && $0 != "[" }) {
        case ("payload_too_large", _): Reason.payloadTooLarge.text
        case ("invalid_topic", _): Reason.badTopic.text
        case ("invalid_push_type", _): Reason.invalidPushType.text
        case (_, "collapseId"?): Reason.badCollapseId.text
        case (_, "expiration"?): Reason.badExpirationDate.text
        case (_, "priority"?): Reason.badPriority.text
        default: error.path.map { "\($0): \(error.message)" } ?? error.message
        }
    }

    /// Returns the text of a failure; `nil` for an outcome that is none.
    static func text(_ verdict: TokenOutcome) -> String? {
        switch verdict {
        case .accepted, .pending, .skipped: nil
        case .rejected(let reason): reason
        case .unconfirmed(let reason): "unconfirmed: \(reason)"
        case .failed(let reason): reason
        }
    }
}
