import PushSupport
import PushTypes

/// The entry of a failure in a response and in a post to the hook.
struct GorushLogEntry: Hashable, Sendable {
    /// The maximum length of a text that is repeated for each token, in bytes. A response may have very many tokens.
    static let maximumText = 256
    /// The maximum length of the error in a short entry, in bytes.
    private static let maximumShortError = 64
    /// The maximum number of bytes that the entries of a response repeat.
    private static let maximumRepeated = 1024 * 1024

    let id: String?
    /// The whole token as it arrived. Its owner uses it to clean a database.
    let token: String
    let message: String
    /// The reason of the push service, or another text.
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

    /// The entry without the repeated id and message.
    private var shortJSON: JSONValue {
        .object([
            "type": .string("failed-push"), "platform": .string("ios"), "token": .string(self.token),
            "error": .string(self.error.bounded(bytes: Self.maximumShortError)),
        ])
    }

    /// Returns the entries of a response.
    ///
    /// A short request can cause very many entries. After ``maximumRepeated`` bytes of repeated texts, further entries
    /// contain neither id nor message.
    static func json(_ entries: [GorushLogEntry]) -> JSONValue {
        var repeated = 0
        let values = entries.map { entry in
            repeated += (entry.id?.utf8.count ?? 0) + entry.message.utf8.count + entry.error.utf8.count
            return repeated <= Self.maximumRepeated ? entry.json : entry.shortJSON
        }
        return .array(values)
    }
}

/// The descriptions of failures in responses and posts.
enum GorushFailure {
    /// Returns the reason of the push service that corresponds to an error of the provider's own check, or an
    /// explanation.
    ///
    /// None of these reasons blames a token, because the error concerns all tokens of a notification.
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

    /// Returns the text of a failure, or `nil` for another outcome.
    static func text(_ verdict: TokenOutcome) -> String? {
        switch verdict {
        case .accepted, .pending, .skipped: nil
        case .rejected(let reason): reason
        case .unconfirmed(let reason): "unconfirmed: \(reason)"
        case .failed(let reason): reason
        }
    }
}
