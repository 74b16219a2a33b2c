import PushSupport
import PushTypes

/// An error of Firebase Cloud Messaging: a `google.rpc.Status` with the details that its clients evaluate.
struct FCMError: Error, Hashable, Sendable {
    /// The values of the member `errorCode` in the detail `FcmError`.
    enum Code: String, Hashable, Sendable {
        case invalidArgument = "INVALID_ARGUMENT"
        case unregistered = "UNREGISTERED"
        case senderIDMismatch = "SENDER_ID_MISMATCH"
        case quotaExceeded = "QUOTA_EXCEEDED"
        case unavailable = "UNAVAILABLE"
        case internalError = "INTERNAL"
        case thirdPartyAuthError = "THIRD_PARTY_AUTH_ERROR"
    }

    struct Violation: Hashable, Sendable {
        var field: String
        var description: String
    }

    struct APNsAnswer: Hashable, Sendable {
        var status: Int
        var reason: String
    }

    let status: Int
    /// The name of the `google.rpc.Code`, such as `NOT_FOUND`.
    let name: String
    let message: String
    var code: Code?
    var violations: [Violation] = []
    var answer: APNsAnswer?

    private static let types = "type.googleapis.com/"

    var json: JSONValue {
        var details: [JSONValue] = []
        if let code {
            details.append(
                .object([
                    "@type": .string("\(Self.types)google.firebase.fcm.v1.FcmError"),
                    "errorCode": .string(code.rawValue),
                ])
            )
        }
        if let answer {
            details.append(
                .object([
                    "@type": .string("\(Self.types)google.firebase.fcm.v1.ApnsError"),
                    "statusCode": .integer(Int64(answer.status)), "reason": .string(answer.reason),
                ])
            )
        }
        if !self.violations.isEmpty {
            let violations = self.violations.map { violation in
                JSONValue.object(["field": .string(violation.field), "description": .string(violation.description)])
            }
            details.append(
                .object([
                    "@type": .string("\(Self.types)google.rpc.BadRequest"), "fieldViolations": .array(violations),
                ])
            )
        }
        let error: JSONValue = .members([
            "code": .integer(Int64(self.status)), "message": .string(self.message), "status": .string(self.name),
            "details": details.isEmpty ? nil : .array(details),
        ])
        return .object(["error": error])
    }
}

extension FCMError {
    init(_ status: Int, _ name: String, _ message: String, code: Code? = nil) {
        (self.status, self.name, self.message, self.code) = (status, name, message, code)
    }

    /// The error for a member `field` with a wrong type or value. If `code` is `nil`, the error has no detail
    /// `FcmError`, as in FCM.
    static func invalid(_ field: String, _ description: String, code: Code? = nil) -> FCMError {
        var error = FCMError(400, "INVALID_ARGUMENT", "Invalid value at '\(field)': \(description)", code: code)
        error.violations = [Violation(field: field, description: description)]
        return error
    }

    static var unregistered: FCMError {
        var error = FCMError(404, "NOT_FOUND", "The device is no longer registered.", code: .unregistered)
        error.answer = APNsAnswer(status: Reason.unregistered.status, reason: Reason.unregistered.text)
        return error
    }

    /// The error for a token of another app.
    static var senderIDMismatch: FCMError {
        let message = "The token belongs to another app."
        var error = FCMError(403, "PERMISSION_DENIED", message, code: .senderIDMismatch)
        let reason = Reason.deviceTokenNotForTopic
        error.answer = APNsAnswer(status: reason.status, reason: reason.text)
        return error
    }

    static func thirdPartyAuth(_ message: String) -> FCMError {
        FCMError(401, "UNAUTHENTICATED", message, code: .thirdPartyAuthError)
    }

    static func permissionDenied(_ message: String) -> FCMError { FCMError(403, "PERMISSION_DENIED", message) }

    static func notFound(_ message: String) -> FCMError { FCMError(404, "NOT_FOUND", message) }

    init(_ error: RequestError) {
        let message = error.path.map { "\($0): \(error.message)" } ?? error.message
        switch error.kind {
        case .invalid, .tooLarge, .unsupportedType: self.init(400, "INVALID_ARGUMENT", message, code: .invalidArgument)
        case .unauthenticated: self.init(401, "UNAUTHENTICATED", message)
        case .forbidden: self.init(403, "PERMISSION_DENIED", message)
        case .notFound: self.init(404, "NOT_FOUND", message)
        case .methodNotAllowed: self.init(405, "UNIMPLEMENTED", message)
        case .conflict: self.init(409, "ABORTED", message)
        case .rateLimited: self.init(429, "RESOURCE_EXHAUSTED", message, code: .quotaExceeded)
        case .timeout, .unavailable: self.init(503, "UNAVAILABLE", message, code: .unavailable)
        case .internalError: self.init(500, "INTERNAL", message, code: .internalError)
        }
    }

    /// Creates the FCM error for an error of the provider's content check. It names the FCM message's member at fault.
    init(content error: RequestError) {
        let path = error.path ?? ""
        let place: String
        switch path.prefix(while: { $0 != "." && $0 != "[" }) {
        case "payload": place = "message.apns.\(path)"
        case "topic", "priority", "expiration", "collapseId", "pushType": place = "message.apns.headers"
        default: place = "message"
        }
        self = .invalid(place, error.message, code: .invalidArgument)
    }

    /// Creates the FCM error for the outcome of a push to a token. Returns `nil` for an accepted, pending or skipped
    /// push, which is not a failure.
    init?(_ verdict: TokenOutcome) {
        switch verdict {
        case .accepted, .pending, .skipped: return nil
        case .rejected(let reason): self.init(rejection: reason)
        case .unconfirmed(let reason):
            let message = "The push service found fault with the token, which is being checked (\(reason))"
            self.init(503, "UNAVAILABLE", "\(message): try again later.", code: .unavailable)
        case .failed(let reason) where reason.contains(Reason.tooManyRequests.text):
            self.init(429, "RESOURCE_EXHAUSTED", reason, code: .quotaExceeded)
        case .failed(let reason): self.init(503, "UNAVAILABLE", reason, code: .unavailable)
        }
    }

    private init(rejection text: String) {
        let reason = Reason(rawValue: text)
        switch reason {
        case .unregistered?, .expiredToken?: self = .unregistered
        case .deviceTokenNotForTopic?: self = .senderIDMismatch
        case .tooManyRequests?, .tooManyProviderTokenUpdates?:
            self.init(429, "RESOURCE_EXHAUSTED", "The push service wants fewer pushes.", code: .quotaExceeded)
        case let known? where known.status == 403:
            self = .thirdPartyAuth("The push service refuses the app's credential.")
        default: self.init(400, "INVALID_ARGUMENT", "The push service rejected the push.", code: .invalidArgument)
        }
        self.answer = APNsAnswer(status: reason?.status ?? 400, reason: text)
    }
}
