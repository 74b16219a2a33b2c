/// The kind of a device token: the use for which the device got it, and so the topic that its pushes must have
/// (reference 1.6).
///
/// A push service rejects a push of another topic as `DeviceTokenNotForTopic`, however good the token is.
package enum DeviceTokenKind: String, CaseIterable, Hashable, Sendable {
    /// Alerts, badges, sounds and background updates. The tokens of MDM servers and of passes are of this kind too:
    /// their topic is the app's own.
    case alert
    case voip
    case complication
    case fileProvider
    case location
    case pushToTalk
    /// The start of a Live Activity: one token per installation.
    case liveActivityStart
    /// Updates and the end of one Live Activity: one token per activity (reference 3.4).
    case liveActivityUpdate
    case widgets
    case controls
    /// A browser's subscription to Web Push, which is no token of Apple's: the token is the hash of its URL.
    case web

    /// A push type whose topic is that of the kind.
    package var pushType: PushType {
        switch self {
        case .alert, .web: .alert
        case .voip: .voip
        case .complication: .complication
        case .fileProvider: .fileprovider
        case .location: .location
        case .pushToTalk: .pushtotalk
        case .liveActivityStart, .liveActivityUpdate: .liveactivity
        case .widgets: .widgets
        case .controls: .controls
        }
    }

    /// Returns the topic of an app's tokens of this kind; `nil` if it would be too long.
    /// - Parameter bundleID: The app's bundle id.
    package func topic(of bundleID: Topic) -> Topic? {
        let suffix = self.pushType.topicSuffix
        return suffix.isEmpty ? bundleID : Topic(bundleID.name + suffix)
    }
}

extension PushType {
    /// Returns the kind of tokens to which a push of this type goes.
    /// - Parameter startsActivity: `true` for a Live Activity push with the event `start`.
    package func tokenKind(startsActivity: Bool = false) -> DeviceTokenKind {
        switch self {
        case .alert, .background, .mdm: .alert
        case .complication: .complication
        case .controls: .controls
        case .fileprovider: .fileProvider
        case .liveactivity: startsActivity ? .liveActivityStart : .liveActivityUpdate
        case .location: .location
        case .pushtotalk: .pushToTalk
        case .voip: .voip
        case .widgets: .widgets
        }
    }
}
