import PushTypes

/// The directory of one environment: the credentials of all environments, the devices of one.
struct EnvironmentDirectory: PushDirectory {
    let providers: ProviderRegistry
    let devices: DeviceRegistry
    let environment: PushEnvironment

    var changes: UInt64 { self.providers.changes }

    func key(_ keyID: String) -> RegisteredKey? { self.providers.key(keyID) }
    func app(_ bundleID: Topic) -> ProviderApp? { self.providers.app(bundleID) }
    func isRevoked(certificate serial: String) -> Bool { self.providers.isRevoked(certificate: serial) }
    func status(of token: DeviceToken) -> TokenStatus { self.devices.status(of: token, in: self.environment) }
}
