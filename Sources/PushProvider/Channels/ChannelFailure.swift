import PushSender
import PushSupport
import PushTypes

/// Translates the push service's errors about channels into errors of the API.
enum ChannelFailure {
    /// The `Retry-After` of the API's error if the push service was busy and named no delay, or was not reached.
    private static let delay: Duration = .seconds(30)

    /// The error for a channel that is not stored, if the request names no environment in which to look for it.
    static let unknown = RequestError(
        .notFound,
        code: "no_such_channel",
        message: "the app has no such channel: name its environment, if it was made elsewhere",
        path: "channel"
    )

    static let deleted = RequestError(
        .notFound,
        code: "no_such_channel",
        message: "this channel was deleted: its id never comes back",
        path: "channel"
    )

    /// Returns the error for a credential that cannot be used to query the push service; `cause` completes its message.
    static func credential(_ cause: String) -> RequestError {
        self.conflict("no_usable_credential", "the push service cannot be asked: \(cause)", at: "environment")
    }

    /// Returns whether the error means that the push service has no such channel. The service responds with `BadPath`
    /// to the deletion of a channel that it does not have (reference 4.3).
    static func meansNoChannel(_ error: ChannelServiceError) -> Bool {
        guard case .rejected(let rejection) = error else { return false }
        return rejection.reason == .channelNotRegistered || rejection.status == 404
    }

    /// Returns the API's error for an error of the push service: a `RetryLaterError` if a retry may succeed, or a
    /// `RequestError`.
    static func error(for error: ChannelServiceError) -> any Error {
        switch error {
        case .rejected(let rejection): self.error(for: rejection)
        case .notSent(let failure):
            self.later("push_service_unreachable", "the push service was not reached: \(failure.description)")
        case .unknown(let failure):
            RequestError(
                .unavailable,
                code: "unknown_outcome",
                message: "it may have been carried out, the list of channels tells: \(failure.description)"
            )
        case .malformed(let text): RequestError(.unavailable, code: "push_service_malformed", message: text)
        }
    }

    private static func error(for rejection: Rejection) -> any Error {
        let reason = rejection.reasonText.isEmpty ? "status \(rejection.status)" : rejection.reasonText
        switch rejection.reason {
        case .channelNotRegistered, .badChannelId:
            return RequestError(
                .notFound,
                code: "no_such_channel",
                message: "the push service has no such channel: \(reason)",
                path: "channel"
            )
        case .cannotCreateChannelConfig:
            let message = "the push service makes no more channels for this app: delete some (\(reason))"
            return self.conflict("too_many_channels", message, at: "channel")
        case .featureNotEnabled:
            let message = "broadcasts are switched off for this app: switch Broadcast on for the App ID (\(reason))"
            return self.conflict("broadcast_not_enabled", message, at: "app")
        default: break
        }
        if case .retry(let after) = rejection.advice {
            return self.later("push_service_busy", "the push service is busy: \(reason)", after: after)
        }
        if rejection.status == 403 { return self.credential(reason) }
        return self.conflict("rejected_by_push_service", "the push service says \(reason)", at: "channel")
    }

    private static func conflict(_ code: String, _ message: String, at path: String) -> RequestError {
        RequestError(.conflict, code: code, message: message, path: path)
    }

    private static func later(_ code: String, _ message: String, after delay: Duration? = nil) -> RetryLaterError {
        RetryLaterError(RequestError(.unavailable, code: code, message: message), after: delay ?? Self.delay)
    }
}
