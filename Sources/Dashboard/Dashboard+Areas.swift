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
            NotificationListPages(), ComposePages(), NotificationDetailPages(),
            AudiencePages(), TemplatePages(), SchedulePages(),
            // The page of one publication has a name in the place of theirs.
            PublicationListPages(), IssuePages(), IssueUploadPages(), NotifyPages(), FilePages(), CataloguePages(),
            EntitlementPages(), PublicationDetailPages(),
            DeviceListPages(), DeviceDetailPages(), UserPages(), DeliveryPages(),
            TokenListPages(), CredentialPages(), WebhookListPages(), WebhookDetailPages(), AppSettingsPages(),
            KeyListPages(), KeyDetailPages(), PersonListPages(), PersonDetailPages(), AuditPages(), SystemPages(),
        ]
        self.renderer = try PageRenderer(
            isSecure: interface.isSecure,
            liveStreams: interface.budgets[.livePages],
            menu: self.areas.compactMap(\.menuEntry)
        )
    }
}
