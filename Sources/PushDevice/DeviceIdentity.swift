/// The identity of a device: its certificate and key, and the base token that the push service gave it.
///
/// Store it between runs: the same identity keeps the same device tokens. It contains a private key.
public struct DeviceIdentity: Codable, Hashable, Sendable {
    /// A UUID, chosen by the push service.
    public var deviceID: String
    /// The certificate in PEM, issued by the service's device authority.
    public var certificate: String
    /// The private key in PEM, P-256. It never leaves the device.
    public var privateKey: String
    /// The authority of the service's own TLS certificate, in PEM.
    public var serviceAuthority: String
    /// The token that the service gave on the first connection, sent on each later one; `nil` before the first.
    public var baseToken: [UInt8]?

    /// Makes an identity from its parts; ``DeviceActivation`` obtains them from a gateway.
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
