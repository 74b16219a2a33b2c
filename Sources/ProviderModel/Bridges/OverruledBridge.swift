package import PushTypes

/// A bridge that another app overrules, because the bridge's name begins with the bundle id of that app. The bridge was
/// set before that app was added, or by an earlier version of the provider.
///
/// A binary bridge loses all its pushes, and a Matrix bridge those that also match a bridge of the other app.
package struct OverruledBridge: Hashable, Sendable {
    package var kind: BridgeKind
    package var name: String
    /// The number of the app that has the bridge.
    package var app: Int64
    package var bundleID: Topic
    /// The bundle id of the app that overrules the bridge.
    package var owner: Topic

    package init(kind: BridgeKind, name: String, app: Int64, bundleID: Topic, owner: Topic) {
        (self.kind, self.name, self.app, self.bundleID, self.owner) = (kind, name, app, bundleID, owner)
    }
}
