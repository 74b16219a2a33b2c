import Crypto
import Foundation
import NIOCore
import PushDevice
import PushSupport
import PushTypes
import PushWire
import SwiftASN1
import X509

/// An activated device, as it is stored between runs.
struct BenchmarkDevice: Codable, Sendable {
    var identity: DeviceIdentity
    var tokenBytes: [UInt8]?

    init(identity: DeviceIdentity) {
        self.identity = identity
    }

    var token: DeviceToken? {
        get { self.tokenBytes.flatMap { DeviceToken(bytes: $0) } }
        set { self.tokenBytes = newValue?.bytes }
    }

    /// Parses the certificate and the key, which costs more than a connection and is not measured.
    func prepared() throws -> PreparedDevice {
        let certificate = try Certificate(pemEncoded: self.identity.certificate)
        var serializer = DER.Serializer()
        try serializer.serialize(certificate)
        return PreparedDevice(
            certificate: serializer.serializedBytes,
            privateKey: try P256.Signing.PrivateKey(pemRepresentation: self.identity.privateKey)
        )
    }
}

/// A device that can connect.
struct PreparedDevice: Sendable {
    var certificate: [UInt8]
    var privateKey: P256.Signing.PrivateKey

    /// Returns a *Connect* with a fresh nonce, which is valid for one connection within minutes.
    func connect() throws -> ByteBuffer {
        let nonce = DeviceLinkNonce(time: SystemTime().now, random: .random(in: .min ... .max)).bytes
        let signature = try self.privateKey.signature(for: nonce).derRepresentation
        let connect = DeviceLinkConnectRequest(
            certificate: self.certificate,
            nonce: nonce,
            signature: DeviceLinkSignature.ecdsaP256SHA256 + Array(signature),
            understandsExtensions: true
        )
        return connect.packet.encoded
    }
}

/// The devices of a data directory, in JSON.
enum DeviceFile {
    static func read(_ path: String) throws -> [BenchmarkDevice] {
        try JSONDecoder().decode([BenchmarkDevice].self, from: Data(contentsOf: URL(filePath: path)))
    }

    static func write(_ devices: [BenchmarkDevice], to path: String) throws {
        try JSONEncoder().encode(devices).write(to: URL(filePath: path))
    }
}
