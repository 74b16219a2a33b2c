import ArgumentParser
import PushSupport

struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Tell whether a provider is ready: it runs, and its store can be read and written.",
        discussion: """
            Needs no API key. The status is 0 if it is ready, 1 if not.

            Example: martlet status --server http://127.0.0.1:8080
            """
    )

    @OptionGroup var provider: ProviderAccess

    func run() async throws {
        let call = try self.provider.openCall(try await self.provider.settings())
        do {
            let data = try await call.data(.get, "/ready")
            let answer = try JSONValue(parsing: data)
            guard answer["status"].stringValue == "ready" else { throw ProviderAccess.noProvider(call.baseURL) }
            try self.provider.print(answer) { _ in "the provider at \(call.baseURL) is ready" }
        } catch is RequestError {
            throw ProviderAccess.noProvider(call.baseURL)
        } catch let refused as HTTPCall.Refused {
            throw ProviderAccess.explained(refused, call.baseURL)
        }
    }
}
