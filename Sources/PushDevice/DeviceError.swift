/// What can go wrong at the device's end.
public enum DeviceError: Error, Hashable, Sendable, CustomStringConvertible {
    /// No certificate was obtained.
    case activationFailed(String)
    /// Certificate, key or authority of the identity cannot be used.
    case badIdentity(String)
    /// A topic is 1 to 255 letters, digits, dots, hyphens or underscores.
    case badTopic(String)
    /// The service has no app for this topic.
    case topicNotRegistered(String)
    /// No device token came in time.
    case tokenTimeout(String)
    /// The service has no such broadcast channel.
    case unknownChannel(String)
    /// The device follows as many channels as the service allows.
    case tooManyChannels
    /// The service did not say in time whether the device follows the channel.
    case channelTimeout(String)

    public var description: String {
        switch self {
        case .activationFailed(let why): "activation failed: \(why)"
        case .badIdentity(let why): "the device identity cannot be used: \(why)"
        case .badTopic(let topic): "'\(topic)' is no topic: use letters, digits, dots, hyphens or underscores"
        case .topicNotRegistered(let topic):
            "the push service knows no app for topic \(topic): create the app there first"
        case .unknownChannel(let channel): "the push service has no channel \(channel)"
        case .tooManyChannels: "the device follows as many channels as the push service allows"
        case .channelTimeout(let channel): "no answer for channel \(channel) in time: is the push service reachable?"
        case .tokenTimeout(let topic): "no device token for \(topic) in time: is the push service reachable?"
        }
    }
}
