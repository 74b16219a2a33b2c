import Foundation
import ProviderAPI
import PushHTTP
import PushTesting
import Testing

/// Runs a provider whose API has TLS, with the certificate that all tests share.
func withTLSProvider<Value: Sendable>(
    limits: @Sendable (inout ProviderConfiguration.Limits) -> Void = { _ in },
    _ body: @escaping @Sendable (_ port: Int, _ key: String, SelfSignedCertificate) async throws -> Value
) async throws -> Value {
    let certificate = try SelfSignedCertificate.shared.get()
    return try await withTemporaryDirectory { directory in
        let files = TLSFiles(certificate: "\(directory)/cert.pem", key: "\(directory)/key.pem")
        try certificate.pem.write(toFile: files.certificate, atomically: true, encoding: .utf8)
        try certificate.key.write(toFile: files.key, atomically: true, encoding: .utf8)
        return try await withProvider(
            senders: ScriptedSender(),
            configure: {
                $0.tls = files
                limits(&$0.limits)
            }
        ) { provider in
            let port = try #require(Int(provider.api.baseURL.split(separator: ":").last ?? ""))
            return try await body(port, provider.api.apiKey ?? "", certificate)
        }
    }
}
