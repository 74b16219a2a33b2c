import Foundation

/// Follows a notification at the provider until every device has its outcome, or somebody cancels it.
struct NotificationProgress: Sendable {
    static let interval: Duration = .milliseconds(100)

    struct End {
        var answer: [String: Any]
        var allAccepted: Bool
    }

    let call: HTTPCall
    let id: String

    /// - Throws: ``SettingsError`` when time is up.
    func end(within limit: Duration) async throws -> End {
        let deadline = ContinuousClock.now + limit
        while true {
            let answer = try await self.call(.get, "/v1/notifications/\(self.id)")
            if let state = answer["state"] as? String, ["done", "cancelled"].contains(state) {
                let counters = answer["counters"] as? [String: Int] ?? [:]
                let lost = (counters["rejected"] ?? 0) + (counters["failed"] ?? 0)
                return End(answer: answer, allAccepted: lost == 0 && state == "done")
            }
            if ContinuousClock.now > deadline {
                throw SettingsError("notification \(self.id) was not done within \(limit); it goes on in the provider")
            }
            try await Task.sleep(for: Self.interval)
        }
    }
}
