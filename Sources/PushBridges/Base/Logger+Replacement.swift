import Logging
import PushStore
import PushTypes

extension Logger {
    /// Warns that a bridge for an app's own topic has replaced that of another app, which gets nothing more over it.
    func warnOfReplacement(by bridge: BridgeRecord, of app: Topic) {
        self.warning(
            "a bridge was replaced: its name is a topic of another app, which has set its own",
            metadata: ["app": "\(app)", "bridge": "\(bridge.kind.rawValue) \(bridge.name)"]
        )
    }
}
