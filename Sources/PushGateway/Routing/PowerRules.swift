import PushTypes

/// Decides whether a connected device receives a message immediately, or later to save power (reference 7.2, 7.5, 7.6).
struct PowerRules: Hashable, Sendable {
    /// The interval at which a device that is not in use is woken for messages with the result ``Decision/hold``.
    var window = GatewayConfiguration.Limits().powerWindow
    /// The maximum number of background notifications per hour, device and topic. Only the newest of the further ones
    /// is held. Default `nil`: no limit.
    var backgroundPerHour: Int?

    enum Decision: Hashable, Sendable {
        case deliver
        /// The decision to store the message as for an offline device, because its topic is not in the device's filter.
        case offline
        /// The decision to hold the message until the device is in use, is woken for held messages, or sends another
        /// filter.
        case hold
        /// The decision to discard the message, because the device ignores its topic.
        case discard
    }

    /// Returns the decision about a message for a connected device.
    /// - Parameter isWindow: Whether a device that is not in use is being woken now, at the end of ``window``.
    func decision(for message: Message, _ session: DeviceSession, now: Timestamp, isWindow: Bool) -> Decision {
        // A device gets the broadcasts of the channels that it follows, whether its filter has their topic or not.
        let implied: DeviceSession.Interest? = message.channel == nil ? nil : .enabled
        guard let interest = session.interest(in: message.topicHash) ?? implied else { return .offline }
        switch interest {
        case .ignored: return .discard
        case .paused: return .hold
        case .opportunistic, .nonWaking: if !session.isActive { return .hold }
        case .enabled: break
        }
        if !session.isActive {
            switch message.notification.priority {
            case .immediate: break
            case .powerAware: if !isWindow { return .hold }
            case .low: return .hold
            }
        }
        if let limit = self.backgroundPerHour, message.notification.pushType == .background,
            session.background[message.topicHash, default: []].count(where: { now.since($0) < .seconds(3600) }) >= limit
        {
            return .hold
        }
        return .deliver
    }
}
