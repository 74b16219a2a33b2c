/// The kind of a notification, header `apns-push-type` (reference 1.6).
public enum PushType: String, CaseIterable, Hashable, Sendable {
    case alert
    case background
    case complication
    case controls
    case fileprovider
    case liveactivity
    case location
    case mdm
    case pushtotalk
    case voip
    case widgets

    /// What the topic has after the bundle id; empty where the topic is the bundle id (or, for `mdm`, a certificate UID).
    public var topicSuffix: String {
        switch self {
        case .alert, .background, .mdm: ""
        case .complication: ".complication"
        case .controls: ".push-type.controls"
        case .fileprovider: ".pushkit.fileprovider"
        case .liveactivity: ".push-type.liveactivity"
        case .location: ".location-query"
        case .pushtotalk: ".voip-ptt"
        case .voip: ".voip"
        case .widgets: ".push-type.widgets"
        }
    }

    /// Largest payload over HTTP/2, in bytes (reference 3.6).
    public var maximumPayloadSize: Int { self == .voip ? 5120 : 4096 }
}
