import Foundation
package import MartletKit
package import PushTypes

/// The publisher's app of a reader, its provider and its user.
package struct ReaderConfiguration: Sendable {
    /// The provider and the app, with the public key that is in its binary.
    package var app: MartletKit.Martlet.Configuration
    /// The key in the address of the registration form; `nil` for an account that the provider lists.
    package var registrationKey: String?
    /// The publisher's account of the form and the catalogue; `nil` for none.
    package var account: String?
    /// The things that the reader may prove its purchases with.
    package var proof = PurchaseProof()
    /// The size of the screen in pixels. Default 2048x1536.
    package var screenSize = "2048x1536"
    /// The environment of the device tokens. Default sandbox.
    package var environment: PushTypes.PushEnvironment = .sandbox
    /// The things that the user allows, at the first run; `background` stands for Newsstand. Default all.
    package var capabilities = PhoneNotificationCenter.allCapabilities
    package var rules = ReaderRules()
    /// The network at the start. Default Wi-Fi.
    package var network: ReaderNetwork = .wifi
    /// The carrier of the app's requests.
    package var transport: any DownloadTransport = HTTPClientTransport()

    package init(app: MartletKit.Martlet.Configuration) { self.app = app }

    /// Returns the registration of a device.
    func registration(deviceID: UUID, token: [UInt8], capabilities: Capabilities) -> TransportRequest {
        let form = PublisherRegistrationForm(
            deviceID: deviceID,
            token: token,
            account: self.account,
            capabilities: capabilities,
            screenSize: self.screenSize,
            environment: self.environment
        )
        return form.request(provider: self.app.provider, app: self.app.app, key: self.registrationKey)
    }
}
