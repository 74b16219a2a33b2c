import PushProvider
import PushTesting

@testable import ProviderAPI

extension ProviderServer {
    /// Makes a provider on a free port whose erasures do not wait for what is in flight.
    static func erasing(in directory: String) async throws -> ProviderServer {
        var configuration = ProviderConfiguration(dataDirectory: directory)
        configuration.port = 0
        configuration.bePatient()
        configuration.erasure.settling = .zero
        return try await ProviderServer(
            configuration: configuration,
            senders: ScriptedSender(),
            logger: silentLogger
        )
    }
}
