import ArgumentParser
import PushSupport

/// `martlet status`: shows whether a provider is ready.
struct StatusCommand: AsyncParsableCommand {
    static let configuration = command("status")
        .help("Show whether a provider is ready: it runs, and its store can be read and written.")
        .detail("Needs no API key. The status is 0 if it is ready, 1 if not. With a key that may read, it shows the")
        .detail("environments whose pushes are paused or failing.")
        .example("status --server http://127.0.0.1:8080")

    @OptionGroup var access: ProviderOptions

    func run() async throws {
        let client = try APISettings.client(try await self.access.settings())
        let response = try await client.send(.get(), to: "/ready")
        guard response["status"].stringValue == "ready" else { throw client.notAnAPI }
        let faults = await self.faults(client)
        try self.access.print(response) { _ in
            (["the provider at \(client.baseURL) is ready"] + faults).joined(separator: "\n")
        }
    }

    /// Returns a line for each environment that cannot be sent to; none without a key that may read.
    private func faults(_ client: APIClient) async -> [String] {
        guard client.apiKey != nil, let apps = try? await client.send(.get("apps")) else { return [] }
        return apps["apps"].elements.compactMap { app in
            EnvironmentStateText.faults(app).map { "\(app["bundleId"].plainText): \($0)".printable }
        }
    }
}
