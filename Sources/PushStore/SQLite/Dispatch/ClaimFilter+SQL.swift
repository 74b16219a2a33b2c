extension ClaimFilter {
    /// The condition that a notification goes to none of the excluded targets.
    var isOfOtherTargets: String {
        guard !self.targets.isEmpty else { return "1" }
        let others = self.targets.sorted {
            ($0.app, $0.environment?.code ?? -1) < ($1.app, $1.environment?.code ?? -1)
        }
        return others.map { target in
            let environment = target.environment.map { "\($0.code)" } ?? "NULL"
            return "NOT (notification.app = \(target.app) AND notification.environment IS \(environment))"
        }.joined(separator: " AND ")
    }
}
