import PushSupport
import PushTypes

/// A failure of a push, as an entry of gorush's log in a response and in a request to the feedback hook.
struct GorushLogEntry: Hashable, Sendable {
    /// The maximum length of a string that each token's entry repeats, in bytes. A longer one is truncated, because a
    /// response may contain very many tokens.
    static let maximumText = 256
    /// The maximum length of the error message in ``shortJSON``, in bytes. A longer message is truncated.
    private static let maximumShortError = 64
    /// The total length, in bytes, of the strings that the entries of a response repeat. Beyond it, entries are short.
    private static let maximumRepeated = 1024 * 1024

    let id: String?
    /// The whole token as the client wrote it. The client uses it to remove the token from its database.
    let token: String
    let message: String
    /// The push service's rejection reason, such as `BadDeviceToken`, or another error message.
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

    /// The entry without the notification's id and message, which would be the same in all its entries.
    private var shortJSON: JSONValue {
        .object([
            "type": .string("failed-push"), "platform": .string("ios"), "token": .string(self.token),
            "error": .string(self.error.bounded(bytes: Self.maximumShortError)),
        ])
    }

    /// Returns the log of a response as JSON.
    ///
    /// A short request can cause very many entries. Once the repeated strings have ``maximumRepeated`` bytes, further
    /// entries contain neither the id nor the message.
    static func json(_ entries: [GorushLogEntry]) -> JSONValue {
        var repeated = 0
        let values = entries.map { entry in
            repeated += (entry.id?.utf8.count ?? 0) + entry.message.utf8.count + entry.error.utf8.count
            return repeated <= Self.maximumRepeated ? entry.json : entry.shortJSON
        }
        return .array(values)
    }
}

/// The error messages of failures in responses and in requests to feedback hooks.
enum GorushFailure {
    /// Returns the push service's reason that corresponds to an error of the provider's own check, or an explanation if
    /// there is none.
    ///
    /// None of the returned reasons blames a token, because the error concerns all tokens of a notification.
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

    /// Returns the error message for a failed outcome, or `nil` for any other outcome.
    static func text(_ verdict: TokenOutcome) -> String? {
        switch verdict {
        case .accepted, .pending, .skipped: nil
        case .rejected(let reason): reason
        case .unconfirmed(let reason): "unconfirmed: \(reason)"
        case .failed(let reason): reason
        }
    }
}
