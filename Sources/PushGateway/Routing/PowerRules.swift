import PushTypes

/// When a connected device gets a notification at once, and when its power matters more (reference 7.2, 7.5, 7.6).
struct PowerRules: Hashable, Sendable {
    /// A device that is not in use is woken this often for what may wait. Default 15 min.
    var window: Duration = .seconds(15 * 60)
    /// Background notifications per hour, device and topic; the newest of the rest waits. `nil`, the default: no limit.
    var backgroundPerHour: Int?

    enum Verdict: Hashable, Sendable {
        case deliver
        /// The device is not there for this topic.
        case offline
        /// It waits for the device to be in use, for a window, or for the device to ask for it.
        case hold
        /// The device does not want it.
        case discard
    }

    /// - Parameter isWindow: whether this is one of the moments at which a device that is not in use is woken.
    func verdict(on message: Message, for session: DeviceSession, now: Timestamp, isWindow: Bool) -> Verdict {
        // Who follows a channel wants its broadcasts, whether its filter names their topic or not.
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
