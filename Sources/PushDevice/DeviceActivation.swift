import AsyncHTTPClient
import Crypto
import Foundation
import NIOCore
import NIOHTTP1
import PushSupport
public import PushTypes
import SwiftASN1
import X509

/// Obtains a device certificate. It generates a key, and sends a signing request for it to the gateway's admin API.
public struct DeviceActivation: Sendable {
    /// The maximum size of a response, in bytes. Activation fails for a longer one.
    private static let maximumResponseLength = 64 * 1024

    /// The base URL of the admin API, such as `http://127.0.0.1:2198`.
    public var adminURL: String
    /// The maximum time from the start of the request to the end of its response. Default 15 s.
    public var timeout: Duration
    /// The HTTP proxy for the request, or `nil` if there is none.
    public var proxy: ProxyEndpoint?

    /// Creates an activation. It sends nothing before ``activate(name:)`` is called.
    public init(adminURL: String, timeout: Duration = .seconds(15), proxy: ProxyEndpoint? = nil) {
        self.adminURL = adminURL.hasSuffix("/") ? String(adminURL.dropLast()) : adminURL
        (self.timeout, self.proxy) = (timeout, proxy)
    }

    private struct ActivationRequest: Encodable {
        var csr: String
        var name: String?
    }

    private struct ActivationResponse: Decodable {
        var deviceId, certificate, authority: String
    }

    /// Creates a device at the gateway and returns its identity, which the caller has to store.
    /// - Parameter name: The name of the device in the gateway's lists, or `nil` if there is none.
    /// - Throws: ``DeviceError/activationFailed(_:)`` if the gateway cannot be reached or issues no certificate.
    public func activate(name: String? = nil) async throws -> DeviceIdentity {
        // A refused connection fails at once, instead of being tried again until the timeout.
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.timeout.connect = TimeAmount(self.timeout)
        configuration.proxy = self.proxy.map { proxy in
            let authorization = proxy.user.map {
                HTTPClient.Authorization.basic(username: $0, password: proxy.password ?? "")
            }
            return .server(host: proxy.host, port: proxy.port, authorization: authorization)
        }
        do {
            return try await HTTPClient.withHTTPClient(configuration: configuration) { client in
                try await self.activate(name: name, with: client)
            }
        } catch let error as DeviceError {
            throw error
        } catch let error as HTTPClientError where error == .proxyAuthenticationRequired {
            throw self.proxy.map(Self.unauthorized) ?? DeviceError.activationFailed("\(error)")
        } catch {
            let cause = ErrorDescription.of(error)
            throw DeviceError.activationFailed("no usable response from \(self.adminURL)\(self.route): \(cause)")
        }
    }

    private func activate(name: String?, with client: HTTPClient) async throws -> DeviceIdentity {
        let key = P256.Signing.PrivateKey()
        var request = HTTPClientRequest(url: "\(self.adminURL)/v1/devices")
        request.method = .POST
        request.headers.add(name: "content-type", value: "application/json")
        let body = ActivationRequest(csr: try Self.signingRequest(for: key), name: name)
        request.body = .bytes(ByteBuffer(bytes: try JSONEncoder().encode(body)))
        let (status, content) = try await self.response(to: request, client)
        guard status == .created else {
            let hint = status == .notFound ? " (is this the URL of a gateway's admin API?)" : ""
            let text = "\(self.adminURL)\(self.route) responded \(status.code)\(hint): \(String(buffer: content))"
            throw DeviceError.activationFailed(text)
        }
        let issued = try JSONDecoder().decode(ActivationResponse.self, from: Data(content.readableBytesView))
        return DeviceIdentity(
            deviceID: issued.deviceId,
            certificate: issued.certificate,
            privateKey: key.pemRepresentation,
            serviceAuthority: issued.authority
        )
    }

    private func response(
        to request: HTTPClientRequest,
        _ client: HTTPClient
    ) async throws -> (HTTPResponseStatus, ByteBuffer) {
        // The timeout of the HTTP client ends with the head of the response.
        let response = try await withTimeLimit(self.timeout) {
            let response = try await client.execute(request, timeout: TimeAmount(self.timeout))
            return (response.status, try await response.body.collect(upTo: Self.maximumResponseLength))
        }
        guard let response else { throw HTTPClientError.deadlineExceeded }
        return response
    }

    /// The text in error messages that names the proxy. It is empty without a proxy.
    private var route: String { self.proxy.map { " through the proxy \($0)" } ?? "" }

    private static func unauthorized(by proxy: ProxyEndpoint) -> DeviceError {
        let cause = proxy.user == nil ? "wants a user and a password" : "does not accept the user or the password"
        return .activationFailed("the proxy \(proxy) \(cause) (407)")
    }

    private static func signingRequest(for key: P256.Signing.PrivateKey) throws -> String {
        let request = try CertificateSigningRequest(
            version: .v1,
            subject: DistinguishedName { CommonName("Martlet device") },
            privateKey: .init(key),
            attributes: .init()
        )
        return try request.serializeAsPEM().pemString
    }
}

/// The identity of a device: its certificate and key, and the base token that the push service has issued.
///
/// Store it between runs: the same identity keeps the same device tokens. It contains a private key.
public struct DeviceIdentity: Codable, Hashable, Sendable {
    /// The id of the device, a UUID that the push service has chosen.
    public var deviceID: String
    /// The certificate in PEM, issued by the service's device authority.
    public var certificate: String
    /// The P-256 private key in PEM, which never leaves the device.
    public var privateKey: String
    /// The certificate authority of the service's own TLS certificate, in PEM.
    public var serviceAuthority: String
    /// The token that the service issued on the first connection, and that the device sends on each later one, or `nil`
    /// before the first connection.
    public var baseToken: [UInt8]?

    /// Creates an identity from its components, which ``DeviceActivation`` obtains from a gateway.
    public init(
        deviceID: String,
        certificate: String,
        privateKey: String,
        serviceAuthority: String,
        baseToken: [UInt8]? = nil
    ) {
        (self.deviceID, self.certificate, self.privateKey) = (deviceID, certificate, privateKey)
        (self.serviceAuthority, self.baseToken) = (serviceAuthority, baseToken)
    }
}
