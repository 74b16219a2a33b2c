extension NotificationRequest {
    /// Returns the default lane: urgent for tokens, a user, a channel or an activity if not paced, and otherwise bulk.
    static func lane(_ audience: Audience, isPaced: Bool) -> NotificationRecord.Lane {
        guard !isPaced else { return .bulk }
        switch audience {
        case .tokens, .channel, .devices(.user), .devices(.token), .devices(.activity): return .urgent
        case .devices: return .bulk
        }
    }
}
