package import ProviderAPI
import PushSupport

/// The areas of the dashboard.
extension Dashboard {
    /// - Throws: An error of a template or of a file of texts, which the tests of this module find.
    package init(_ interface: ProviderInterface) throws {
        self.interface = interface
        // The entries of the navigation are in the order of the areas.
        self.areas = [
            SignInPages(), OverviewPages(), AccountPages(), AppPages(),
            // These precede the page of one notification, whose path has a name in the place of theirs.
            NotificationPages(), ComposePages(), NotificationDetailPages(),
            AudiencePages(), TemplatePages(), SchedulePages(),
            // The page of one publication has a name in the place of theirs.
            PublicationsPages(), IssuePages(), IssueUploadPages(), NotifyPages(), FilesPages(), CataloguePages(),
            EntitlementPages(), PublicationPages(),
            DevicesPages(), DevicePages(), UserPages(), DeliveryPages(),
            TokensPages(), CredentialsPages(), WebhooksPages(), WebhookPages(), AppSettingsPages(),
            KeysPages(), KeyPages(), PeoplePages(), PersonPages(), AuditPages(), SystemPages(),
        ]
        self.frame = try PageFrame(
            isSecure: interface.isSecure,
            places: interface.budgets[.livePages],
            menu: self.areas.compactMap(\.menuEntry)
        )
    }
}
