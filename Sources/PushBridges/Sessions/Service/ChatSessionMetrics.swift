import Metrics
import PushStore

/// The metrics of sessions at chat servers.
///
/// `martlet_chat_pushes` counts pushes by `result`, `martlet_chat_sign_ins` counts sign-ins by `protocol` and `result`.
struct ChatSessionMetrics: Sendable {
    enum PushResult: String, CaseIterable {
        case accepted
        /// The message was pushed before.
        case repeated
        /// The provider does not send it, such as for want of a device, or as its session is gone.
        case refused
        /// It is lost: too many waited, or the store could not write.
        case dropped
    }

    private let pushes: [PushResult: Counter]
    private let factory: any MetricsFactory

    init(factory: any MetricsFactory) {
        self.factory = factory
        self.pushes = Dictionary(
            uniqueKeysWithValues: PushResult.allCases.map { result in
                let dimensions = [("result", result.rawValue)]
                return (result, Counter(label: "martlet_chat_pushes", dimensions: dimensions, factory: factory))
            }
        )
    }

    func count(_ result: PushResult) { self.pushes[result]?.increment() }

    func countSignIn(_ chatProtocol: ChatProtocol, _ status: ChatSessionStatus) {
        let dimensions = [("protocol", chatProtocol.rawValue), ("result", status.rawValue)]
        Counter(label: "martlet_chat_sign_ins", dimensions: dimensions, factory: self.factory).increment()
    }
}
