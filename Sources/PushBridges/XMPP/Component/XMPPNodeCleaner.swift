import Logging
import PushProvider
import PushStore
import PushSupport
import PushTypes

/// Removes old nodes, to which users' XMPP servers publish, if their owners no longer have devices.
struct XMPPNodeCleaner {
    /// The time between two removals of unused nodes.
    private static let cleaning = Duration.seconds(86_400)
    /// The age from which a node whose owner has no device is removed.
    private static let unusedAge = Duration.seconds(30 * 86_400)
    /// The maximum number of nodes that one transaction removes.
    private static let removedAtOnce = 500

    let store: any XMPPNodeStore
    /// The signal that the clocks have to be read again.
    let wake = WakeSignal()
    let time: any TimeSource
    let logger: Logger

    /// Removes unused nodes once a day by the steady clock, until the task is cancelled.
    func run() async {
        await withTaskCancellationHandler {
            var next = self.time.steady.advanced(by: Self.cleaning)
            while await self.wake.wait(atMost: max(.milliseconds(1), next.since(self.time.steady))) {
                guard self.time.steady >= next else { continue }
                await self.clean()
                next = self.time.steady.advanced(by: Self.cleaning)
            }
        } onCancel: {
            self.wake.end()
        }
    }

    private func clean() async {
        do {
            let limit = self.time.reading.earlier.advanced(by: .zero - Self.unusedAge)
            while try await self.store.forgetXMPPNodes(before: limit, limit: Self.removedAtOnce) > 0 {}
        } catch {
            self.logger.warning("unused XMPP nodes could not be removed", metadata: ["error": "\(error)"])
        }
    }
}
