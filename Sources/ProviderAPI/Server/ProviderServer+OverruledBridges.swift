import Logging
import PushProvider
import PushStore
import PushSupport

extension ProviderServer {
    /// The most bridges that a line names.
    private static let namedBridges = 5

    /// Logs a warning for each app whose bridges lose pushes to another app.
    func warnOfOverruledBridges() async {
        let log = LimitedLog(self.logger, self.budgets[.logLines])
        do {
            let apps = try await self.store.apps().map(\.id)
            let overruled = try await self.store.overruledBridges(apps: apps, limit: .max)
            for (app, bridges) in Dictionary(grouping: overruled, by: \.bundleID) {
                let names = bridges.prefix(Self.namedBridges).map { "\($0.kind.rawValue) \($0.name)" }
                log.log(
                    .warning,
                    "a bridge loses pushes to another app: its name begins with that app's bundle id",
                    ["app": "\(app)", "bridges": "\(names.joined(separator: ", "))", "count": "\(bridges.count)"],
                    app: app
                )
            }
        } catch {
            guard !Task.isCancelled else { return }
            self.logger.error("bridges that lose pushes cannot be looked for", metadata: ["error": "\(error)"])
        }
    }
}
