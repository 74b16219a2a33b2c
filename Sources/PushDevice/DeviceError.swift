/// An error of a ``Device`` or of its activation.
public enum DeviceError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The gateway issued no certificate; the text says why.
    case activationFailed(String)
    /// The certificate, key or authority of the identity is not valid; the text says why.
    case badIdentity(String)
    /// The text is not a topic: 1 to 255 letters, digits, dots, hyphens or underscores.
    case badTopic(String)
    /// The push service knows no app for this topic.
    case topicNotRegistered(String)
    /// The push service sent no device token for this topic in time.
    case tokenTimeout(String)
    /// The push service has no broadcast channel of this id.
    case unknownChannel(String)
    /// The device follows as many channels as the push service allows.
    case tooManyChannels
    /// The push service did not respond in time to the request to follow this channel.
    case channelTimeout(String)

    /// The error in words, for people.
    public var description: String {
        switch self {
        case .activationFailed(let why): "activation failed: \(why)"
        case .badIdentity(let why): "the device identity cannot be used: \(why)"
        case .badTopic(let topic): "'\(topic)' is not a topic: use letters, digits, dots, hyphens or underscores"
        case .topicNotRegistered(let topic):
            "the push service knows no app for topic \(topic): create the app there first"
        case .unknownChannel(let channel): "the push service has no channel \(channel)"
        case .tooManyChannels: "the device follows as many channels as the push service allows"
        case .channelTimeout(let channel): "no response for channel \(channel) in time: is the push service reachable?"
        case .tokenTimeout(let topic): "no device token for \(topic) in time: is the push service reachable?"
        }
    }
}
