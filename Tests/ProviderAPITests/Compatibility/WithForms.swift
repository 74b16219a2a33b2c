import Foundation
import ProviderAPI
import PushSupport
import PushTesting
import PushTypes

/// A provider that accepts compatibility forms for the app of the test vectors.
enum Forms {
    static let key = "dGhpc2lzYWtleQ_0123"
    static let account = "A3D0F2C1-0000-4000-8000-00000000ABCD"
    static let publisher = "/compat/publisher/\(Vectors.bundleID)"
    static let rails = "/compat/rails/\(Vectors.bundleID)/\(key)/admin/apns_devices.json"
    /// Token A of the vectors, as the publisher's apps send it.
    static let token = "MCvTjMFq32yTg+iEi5HYla/MsqWl0dUkNfFMRwqnF2c="

    static var configuration: CompatibilityConfiguration {
        var configuration = CompatibilityConfiguration()
        guard let topic = Topic(Vectors.bundleID) else { return configuration }
        configuration.apps[topic] = .init(key: Self.key, accounts: [Self.account])
        return configuration
    }

    static func withProvider(
        senders: ScriptedSender = ScriptedSender(),
        time: any TimeSource = SystemTime(),
        configure: (inout ProviderConfiguration) -> Void = { _ in },
        _ body: @escaping @Sendable (RunningProvider) async throws -> Void
    ) async throws {
        try await PushTesting.withProvider(
            senders: senders,
            time: time,
            compatibility: Self.configuration,
            configure: configure
        ) { provider in
            try await provider.addVectorsApp()
            try await body(provider)
        }
    }

    static func urlEncoded(_ fields: [(String, String)]) -> Data {
        let allowed = CharacterSet.alphanumerics
        let pairs = fields.map { name, value in
            "\(name)=\(value.addingPercentEncoding(withAllowedCharacters: allowed) ?? "")"
        }
        return Data(pairs.joined(separator: "&").utf8)
    }

    static func multipart(_ fields: [(String, String)], boundary: String = "--x1") -> Data {
        let parts = fields.map { name, value in
            "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(name)\"\r\n\r\n\(value)\r\n"
        }
        return Data((parts.joined() + "--\(boundary)--\r\n").utf8)
    }
}

extension RunningProvider {
    /// Posts a form as a client without an API key.
    func post(_ path: String, _ fields: [(String, String)]) async throws -> (status: Int, text: String) {
        try await self.post(path, Forms.urlEncoded(fields), "application/x-www-form-urlencoded")
    }

    func post(_ path: String, _ body: Data, _ contentType: String) async throws -> (status: Int, text: String) {
        var client = self.api
        client.apiKey = nil
        let response = try await client.call("POST", path, body, headers: ["content-type": contentType])
        return (response.status, String(decoding: response.body, as: UTF8.self))
    }

    func devices() async throws -> [JSONValue] {
        try await self.api.get("/v1/apps/\(Vectors.bundleID)/devices").json["devices"].elements
    }
}
