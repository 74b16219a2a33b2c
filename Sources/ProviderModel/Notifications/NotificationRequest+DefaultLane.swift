extension NotificationRequest {
    /// Returns the lane of a request that names none: urgent for tokens, single users and Live Activities, else bulk.
    static func lane(_ audience: Audience, isPaced: Bool) -> NotificationRecord.Lane {
        guard !isPaced else { return .bulk }
        switch audience {
        case .tokens, .channel, .devices(.user), .devices(.token), .devices(.activity): return .urgent
        case .devices: return .bulk
        }
    }
}
