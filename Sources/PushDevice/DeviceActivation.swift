import AsyncHTTPClient
import Crypto
import Foundation
import NIOCore
import NIOHTTP1
import SwiftASN1
import X509

/// Obtains a device certificate: makes a key, sends a certificate signing request to the gateway's admin door.
public struct DeviceActivation: Sendable {
    /// Largest answer read, in bytes.
    static let maximumReplyLength = 64 * 1024

    /// Base URL of the admin door, such as `http://127.0.0.1:2198`.
    public var adminURL: String
    /// From the start of the request to its answer. Default 15 s.
    public var timeout: Duration

    public init(adminURL: String, timeout: Duration = .seconds(15)) {
        self.adminURL = adminURL.hasSuffix("/") ? String(adminURL.dropLast()) : adminURL
        self.timeout = timeout
    }

    private struct Request: Encodable {
        var csr: String
        var name: String?
    }

    private struct HTTP2Response: Decodable {
        var deviceId: String
        var certificate: String
        var authority: String
    }

    /// - Parameter name: how the device is called in the gateway's lists.
    /// - Throws: ``DeviceError/activationFailed(_:)``.
    public func activate(name: String? = nil) async throws -> DeviceIdentity {
        // Says at once when nobody listens, instead of trying again until the time is up.
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        configuration.connectionPool.retryConnectionEstablishment = false
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        let result: Result<DeviceIdentity, any Error>
        do {
            result = .success(try await self.activate(name: name, with: client))
        } catch let error as DeviceError {
            result = .failure(error)
        } catch {
            result = .failure(DeviceError.activationFailed("no usable answer from \(self.adminURL): \(error)"))
        }
        try? await client.shutdown()
        return try result.get()
    }

    private func activate(name: String?, with client: HTTPClient) async throws -> DeviceIdentity {
        let key = P256.Signing.PrivateKey()
        var request = HTTPClientRequest(url: "\(self.adminURL)/v1/devices")
        request.method = .POST
        request.headers.add(name: "content-type", value: "application/json")
        let body = Request(csr: try Self.signingRequest(for: key), name: name)
        request.body = .bytes(ByteBuffer(bytes: try JSONEncoder().encode(body)))
        let response = try await client.execute(request, timeout: TimeAmount(self.timeout))
        let answer = try await response.body.collect(upTo: Self.maximumReplyLength)
        guard response.status == .created else {
            throw DeviceError.activationFailed(
                "the admin door answered \(response.status.code): \(String(buffer: answer))"
            )
        }
        let reply = try JSONDecoder().decode(HTTP2Response.self, from: Data(answer.readableBytesView))
        return DeviceIdentity(
            deviceID: reply.deviceId,
            certificate: reply.certificate,
            privateKey: key.pemRepresentation,
            serviceAuthority: reply.authority
        )
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
