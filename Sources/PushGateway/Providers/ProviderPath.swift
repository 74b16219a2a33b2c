import PushTypes

/// The path of a request to the provider API (reference 1.4, 4).
enum ProviderPath: Hashable, Sendable {
    /// A push to a device, at `/3/device/…` with a device token, or `nil` if the last component is not a device token.
    case device(DeviceToken?)
    /// A push without a device token, at `/3/device/`.
    case missingDevice
    /// A broadcast, at `/4/broadcasts/apps/{bundle id}`.
    case broadcast(String)
    /// The creation, reading or deletion of a channel, at `/1/apps/{bundle id}/channels`.
    case channels(String)
    /// The list of channels, at `/1/apps/{bundle id}/all-channels`.
    case allChannels(String)
    case unknown

    private static let device: StaticString = "/3/device/"
    private static let broadcast = "/4/broadcasts/apps/"
    private static let apps = "/1/apps/"

    init(_ path: String) {
        let device =
            path.utf8.withContiguousStorageIfAvailable(Self.device)
            ?? Array(path.utf8)
            .withUnsafeBufferPointer(Self.device)
        self = device ?? Self.other(path)
    }

    /// Parses a path that begins with `/3/device/`, without copying it. Returns `nil` for another kind of path.
    private static func device(_ path: UnsafeBufferPointer<UInt8>) -> ProviderPath? {
        let length = Self.device.utf8CodeUnitCount
        guard path.count >= length else { return nil }
        let prefix = UnsafeBufferPointer(start: Self.device.utf8Start, count: length)
        guard path.prefix(length).elementsEqual(prefix) else { return nil }
        let token = UnsafeBufferPointer(rebasing: path[length...])
        if token.isEmpty { return .missingDevice }
        guard token.count <= 2 * DeviceToken.maximumLength, let bytes = Hexadecimal.decode(token) else {
            return .device(nil)
        }
        return .device(DeviceToken(bytes: bytes))
    }

    private static func other(_ path: String) -> ProviderPath {
        if path.hasPrefix(Self.broadcast) {
            let bundleID = path.dropFirst(Self.broadcast.count)
            return bundleID.isEmpty || bundleID.contains("/") ? .unknown : .broadcast(String(bundleID))
        }
        guard path.hasPrefix(Self.apps) else { return .unknown }
        let parts = path.dropFirst(Self.apps.count).split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let bundleID = parts.first, !bundleID.isEmpty else { return .unknown }
        switch parts[1] {
        case "channels": return .channels(String(bundleID))
        case "all-channels": return .allChannels(String(bundleID))
        default: return .unknown
        }
    }
}
