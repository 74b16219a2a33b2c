import Logging
import PushProvider
import PushStore

extension ProviderServer {
    /// Logs a warning for each bridge that has the name of another app: an upgrade or that app has taken its pushes away.
    static func warnOfOverruledBridges(_ store: any ProviderStore, _ log: LimitedLog) async {
        for bridge in (try? await store.overruledBridges()) ?? [] {
            log.log(
                .warning,
                "pushes of a bridge belong to another app, with whose bundle id its name begins",
                [
                    "bridge": "\(bridge.kind.rawValue) \(bridge.name)", "app": "\(bridge.bundleID)",
                    "owner": "\(bridge.owner)",
                ],
                app: bridge.bundleID
            )
        }
    }
}
