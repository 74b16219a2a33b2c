/// What a device is to the push service: its certificate and key, and the base token it was given.
///
/// Keep it between runs: the same identity keeps the same device tokens. It holds a private key.
public struct DeviceIdentity: Codable, Hashable, Sendable {
    /// A UUID, chosen by the service.
    public var deviceID: String
    /// PEM, issued by the service's device authority.
    public var certificate: String
    /// PEM, P-256. Never leaves the device.
    public var privateKey: String
    /// PEM: what the service's own TLS certificate chains to.
    public var serviceAuthority: String
    /// Given on the first connect, presented on each later one.
    public var baseToken: [UInt8]?

    public init(
        deviceID: String,
        certificate: String,
        privateKey: String,
        serviceAuthority: String,
        baseToken: [UInt8]? = nil
    ) {
        self.deviceID = deviceID
        self.certificate = certificate
        self.privateKey = privateKey
        self.serviceAuthority = serviceAuthority
        self.baseToken = baseToken
    }
}
