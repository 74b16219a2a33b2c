extension ClaimFilter {
    /// The condition on a notification that it goes to none of the excluded services.
    var isOfOtherServices: String {
        guard !self.services.isEmpty else { return "1" }
        let others = self.services.sorted {
            ($0.app, $0.environment?.code ?? -1) < ($1.app, $1.environment?.code ?? -1)
        }
        return others.map { service in
            let environment = service.environment.map { "\($0.code)" } ?? "NULL"
            return "NOT (notification.app = \(service.app) AND notification.environment IS \(environment))"
        }.joined(separator: " AND ")
    }
}
