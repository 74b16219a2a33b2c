package import ProviderAPI
import PushSupport

/// The areas of the dashboard.
extension Dashboard {
    /// - Throws: An error of a template or of a file of texts, which the tests of this module find.
    package init(_ interface: ProviderInterface) throws {
        self.interface = interface
        self.frame = try PageFrame(isSecure: interface.isSecure, places: interface.budgets[.livePages])
        self.areas = [
            SignInPages(), OverviewPages(), AccountPages(), AppPages(), AppSettingsPages(),
            // These precede the page of one notification, whose path has a name in the place of theirs.
            NotificationPages(), ComposePages(), NotificationDetailPages(),
            AudiencePages(), TemplatePages(), SchedulePages(),
            DevicesPages(), DevicePages(), UserPages(), DeliveryPages(),
            TokensPages(), CredentialsPages(), WebhooksPages(), WebhookPages(),
            // The page of one publication has a name in the place of theirs.
            PublicationsPages(), IssuePages(), IssueUploadPages(), NotifyPages(), FilesPages(), CataloguePages(),
            EntitlementPages(), PublicationPages(),
            KeysPages(), KeyPages(), PeoplePages(), PersonPages(), AuditPages(), SystemPages(),
        ]
    }
}
