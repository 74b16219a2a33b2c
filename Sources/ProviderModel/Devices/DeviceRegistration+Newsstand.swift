import PushSupport

extension DeviceRequest {
    /// The attribute by which the notification of an issue finds the devices with Newsstand, and the attribute that
    /// holds the publisher's account.
    package static let (newsstandAttribute, accountAttribute) = ("newsstand", "accountId")
}

extension DeviceRegistration {
    /// Sets the Newsstand attribute according to the capabilities, unless the request sets the attribute itself.
    ///
    /// A device that registers without the capability gets no notifications of issues any more.
    mutating func followCapabilities() {
        guard let capabilities = self.capabilities, self.attributes[DeviceRequest.newsstandAttribute] == nil
        else { return }
        self.attributes[DeviceRequest.newsstandAttribute] =
            capabilities.contains(.newsstand) ? .set(.bool(true)) : .clear
    }
}
