import Foundation
import PushStore
import PushSupport
import PushTypes

/// The response of FCM itself, as far as it can be compared.
struct FCMResponse: Hashable, Sendable {
    /// The status, and the code by which clients decide.
    let text: String

    init(status: Int, body: Data) {
        let error = ((try? JSONValue(parsing: body)) ?? .null)["error"]
        let code = error["details"].elements.lazy.compactMap { $0["errorCode"].stringValue }.first
        let word = (code ?? error["status"].stringValue).map(ShadowComparison.reason)
        self.text = "\(status)\(word.map { " \($0)" } ?? "")"
    }

    /// The answer of this bridge; `nil` for a message that would be sent.
    init(_ error: FCMError?) {
        let word = error.map { $0.code?.rawValue ?? $0.name }
        self.text = "\(error?.status ?? 200)\(word.map { " \($0)" } ?? "")"
    }
}

extension ShadowComparison {
    /// Compares a message with the answer of FCM.
    ///
    /// - Parameters:
    ///   - error: The error with which the bridge would answer; `nil` for a message that would be sent.
    ///   - target: The token to which it goes; `nil` for topics, and for a message that cannot be read.
    ///   - answer: `nil` if nobody was asked.
    init(_ error: FCMError?, target: DeviceToken?, _ answer: FCMResponse?, at: Timestamp) {
        self.init()
        let ours = FCMResponse(error)
        guard let answer else {
            if error != nil {
                self.differ("status", field: target.map { "\($0)" }, ours: ours.text, theirs: "not asked", at: at)
            }
            return
        }
        guard ours != answer else { return }
        let field = error?.violations.first?.field ?? target.map { "\($0)" }
        self.differ("status", field: field, ours: ours.text, theirs: answer.text, at: at)
    }
}
