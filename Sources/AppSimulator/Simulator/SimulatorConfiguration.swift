package import Foundation
package import MartletKit
package import PushDevice
package import PushTypes

/// The app of a simulated phone, its provider and its push service.
package struct SimulatorConfiguration: Sendable {
    /// The app's bundle id.
    package var app: String
    /// The provider's URL.
    package var provider: URL
    /// The public key of the provider's API, which the app has in its binary.
    package var publicKey: String
    /// The environment of the device tokens. Default sandbox.
    package var environment: PushTypes.PushEnvironment = .sandbox
    /// The address of the device link.
    package var device: DeviceConfiguration
    /// The locale, time zone and version that the app registers; `nil` for those of this system, and no version.
    package var locale, timeZone, appVersion: String?
    /// The proof of the user with which the app logs in at its start; `nil` for none.
    package var userProof: String?
    /// The categories that the app has registered.
    package var categories: [NotificationCategory] = []
    /// The carrier of the app's requests, and of its attachments.
    package var transport: any DownloadTransport = HTTPClientTransport()
    /// The text of the rule file for screens; `nil` for none.
    package var routes: Data?

    package init(app: String, provider: URL, publicKey: String, device: DeviceConfiguration) {
        (self.app, self.provider, self.publicKey, self.device) = (app, provider, publicKey, device)
    }
}

/// The push service's side of the phone, which the device link does not offer.
package struct PhoneServices: Sendable {
    /// Keeps the identity of the device for the next run.
    package let save: @Sendable (DeviceIdentity) throws -> Void
    /// Tells the push service that a topic of the app is gone from a device, which ends its device token.
    package let removeApp: @Sendable (_ device: DeviceIdentity, _ topic: String) async throws -> Void

    package init(
        save: @escaping @Sendable (DeviceIdentity) throws -> Void,
        removeApp: @escaping @Sendable (_ device: DeviceIdentity, _ topic: String) async throws -> Void
    ) {
        (self.save, self.removeApp) = (save, removeApp)
    }
}
