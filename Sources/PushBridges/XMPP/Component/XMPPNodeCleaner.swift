import Logging
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
    let time: any TimeSource
    let logger: Logger

    func run() async {
        while (try? await Task.sleep(for: Self.cleaning)) != nil {
            do {
                let limit = self.time.reading.earlier.advanced(by: .zero - Self.unusedAge)
                while try await self.store.forgetXMPPNodes(before: limit, limit: Self.removedAtOnce) > 0 {}
            } catch {
                self.logger.warning("unused XMPP nodes could not be removed", metadata: ["error": "\(error)"])
            }
        }
    }
}
